"""Test what messages took, read from every format that says it, kept in transcripts, shown to nobody who judges."""

from __future__ import annotations

import pytest

from toolevals.grading.reading.parsing import transcript_in
from toolevals.grading.reading.parsing.recorded import tau2_runs
from toolevals.grading.values import Measures, Message, Transcript
from toolevals.grading.values.problems import InvalidDocument

TOOK = Measures(1200, {"input_tokens": 9, "output_tokens": 3}, 0.25)
CALL = {"id": "c1", "type": "function", "function": {"name": "get", "arguments": "{}"}}
FORMATS = {
    "native": [
        {
            "role": "assistant",
            "calls": [{"name": "get", "arguments": {}, "id": "c1"}],
            "latency_ms": 1200,
            "usage": {"input_tokens": 9, "output_tokens": 3},
            "cost": 0.25,
        },
        {"role": "tool", "call_id": "c1", "content": "{}", "latency_ms": 40},
    ],
    "openai_chat": [
        {
            "role": "assistant",
            "tool_calls": [CALL],
            "latency_ms": 1200,
            "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12},
            "cost": 0.25,
        },
        {"role": "tool", "tool_call_id": "c1", "content": "{}", "latency_ms": 40},
    ],
    "anthropic": [
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c1", "name": "get", "input": {}}],
            "latency_ms": 1200,
            "usage": {"input_tokens": 9, "output_tokens": 3},
            "cost": 0.25,
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "{}"}],
            "latency_ms": 40,
        },
    ],
    "langchain": [
        {
            "type": "ai",
            "content": "",
            "tool_calls": [{"name": "get", "args": {}, "id": "c1"}],
            "latency_ms": 1200,
            "usage_metadata": {"input_tokens": 9, "output_tokens": 3, "total_tokens": 12},
            "cost": 0.25,
        },
        {"type": "tool", "tool_call_id": "c1", "content": "{}", "latency_ms": 40},
    ],
}


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_says_what_its_messages_took(name):
    step, result = transcript_in(FORMATS[name], name).messages
    assert (step.measures, result.measures) == (TOOK, Measures(40))


def test_what_several_messages_in_one_took_together_belongs_to_none():
    both = [
        {"type": "tool_use", "id": "c1", "name": "get", "input": {}},
        {"type": "tool_result", "tool_use_id": "c1", "content": "{}"},
        {"type": "text", "text": "Done."},
    ]
    found = transcript_in([{"role": "assistant", "content": both, "latency_ms": 5}], "anthropic")
    assert [message.measures for message in found.messages] == [None, None, None]


@pytest.mark.parametrize("bad", [-1, True, "9", None, float("inf"), 10**400, [1]])
def test_what_is_no_measure_is_left_aside(bad):
    item = {"role": "assistant", "content": "Hi", "latency_ms": bad, "cost": bad, "usage": {"prompt_tokens": bad}}
    try:
        found = transcript_in([item], "openai_chat")
    except InvalidDocument:
        # It could not have come from JSON.
        assert bad in (float("inf"), 10**400)
        return
    assert found.messages[0].measures is None


def test_recorded_runs_say_what_the_agents_steps_took_and_not_the_users():
    usage = {"prompt_tokens": 9, "completion_tokens": 3}
    messages = [
        {"role": "user", "content": "Hi", "usage": usage, "cost": 0.5},
        {"role": "assistant", "content": "Hello", "usage": usage, "cost": 0.25},
    ]
    (run,) = tau2_runs([{"task_id": "1", "messages": messages, "reward_info": {"reward": 1.0}}])
    assert [message.measures for message in run.transcript.messages] == [
        None,
        Measures(None, {"input_tokens": 9, "output_tokens": 3}, 0.25),
    ]


def test_a_transcript_keeps_it_and_what_was_said_is_equal_without_it():
    said = Message("assistant", "Hi", measures=TOOK)
    document = Transcript((said, Message("tool", "{}"))).to_document()
    read = Transcript.from_document(document)
    assert [message.measures for message in read.messages] == [TOOK, None]
    assert document["messages"][0] == {"role": "assistant", "content": "Hi"} | TOOK.to_document()
    # Who judges is shown messages, and must not be swayed by what they cost.
    assert said.to_document() == {"role": "assistant", "content": "Hi"}
    assert said == Message("assistant", "Hi")


@pytest.mark.parametrize("wrong", [{"latency_ms": -1}, {"cost": -0.1}, {"usage": {"input_tokens": "9"}}])
def test_a_wrong_measure_in_the_native_form_is_named(wrong):
    with pytest.raises(InvalidDocument) as found:
        Transcript.from_document({"messages": [{"role": "assistant", **wrong}]})
    assert found.value.problems[0].pointer.startswith(f"/messages/0/{next(iter(wrong))}")
