"""Exports of tracers in shapes that their users have: what is cut or lies elsewhere is read, or named."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolevals.grading.files.evaluation_files.entry import Entry
from toolevals.grading.files.evaluation_files.reading import evaluation_file
from toolevals.grading.values import ToolCall
from toolevals.grading.values.problems import InvalidDocument

ASKED = [{"role": "user", "content": "Where is ORD-9182?"}]
FUNCTION = {"name": "get_order", "arguments": '{"id": "7"}'}
CALLED = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": FUNCTION}]}
TOOL = {"type": "function", "function": {"name": "get_order", "parameters": {"type": "object"}}}


def entry_of(document: Any) -> Entry:
    ((_, found),) = evaluation_file(json.dumps(document).encode()).entries()
    assert isinstance(found, Entry), found
    return found


def calls_of(found: Entry) -> list[tuple[str | None, Any]]:
    assert found.trial is not None
    return [(call.name, call.arguments) for call in found.trial.transcript.calls if isinstance(call, ToolCall)]


def langfuse(given: str, made: str, **more: Any) -> list[dict[str, Any]]:
    return [
        {"id": "o1", "traceId": "t1", "type": "GENERATION", "startTime": "1", "input": given, "output": made, **more}
    ]


def phoenix(given: str, made: str) -> list[dict[str, Any]]:
    attributes = {"input.value": given, "output.value": made}
    context = {"trace_id": "t1", "span_id": "s1"}
    return [{"name": "m", "span_kind": "LLM", "context": context, "parent_id": None, "attributes": attributes}]


@pytest.mark.parametrize("made_by", [langfuse, phoenix])
def test_json_that_is_cut_is_named_and_no_ones_words(made_by: Any) -> None:
    given, made = json.dumps(ASKED), json.dumps(CALLED)
    cut = entry_of(made_by(given, made[:70]))
    assert cut.trial is not None
    assert (cut.trial.transcript.error or "").startswith("What the agent did was not recorded whole")
    assert cut.trial.transcript.answer is None
    cut = entry_of(made_by(given[:30], made))
    assert cut.example is not None
    assert cut.example.input["messages"] == []
    assert calls_of(cut) == [("get_order", {"id": "7"})]
    assert any("cut off" in loss.message for loss in cut.losses)
    # No example is made of it.
    rows = [row for _, row in evaluation_file(json.dumps(made_by(given[:30], made)).encode()).examples()]
    assert [type(row) for row in rows] == [InvalidDocument]
    assert "cut off" in str(rows[0])


def test_calls_that_langfuse_lists_beside_an_output_are_read() -> None:
    listed = [json.dumps({"id": "c1", "arguments": '{"id": "7"}', "type": "function"})]
    found = entry_of(
        langfuse(json.dumps(ASKED), '{"content": "I look."}', toolCalls=listed, toolCallNames=["get_order"])
    )
    assert calls_of(found) == [("get_order", {"id": "7"})]
    assert found.trial is not None
    assert found.trial.transcript.messages[0].content == "I look."


def test_a_page_of_runs_is_read() -> None:
    run = {"id": "r1", "run_type": "llm", "inputs": {"messages": ASKED}, "outputs": {"messages": [CALLED]}}
    assert calls_of(entry_of({"runs": [run], "cursors": {"next": None}})) == [("get_order", {"id": "7"})]


def test_a_record_of_litellm_gives_its_messages_and_tools_and_not_its_response() -> None:
    record = {"id": "x", "call_type": "acompletion", "messages": ASKED, "response": {"choices": []}}
    record["model_parameters"] = {"tools": [TOOL]}
    outputs = {"choices": [{"index": 0, "message": CALLED}]}
    found = entry_of([{"id": "r1", "run_type": "llm", "inputs": record, "outputs": outputs}])
    assert found.example is not None
    assert found.example.input == {"messages": ASKED}
    assert [tool.name for tool in found.example.tools or () if not isinstance(tool, str)] == ["get_order"]


def test_arguments_that_python_wrote_are_the_tools_arguments() -> None:
    runs = [
        {"id": "a", "run_type": "chain", "inputs": {"input": "Where?"}, "outputs": {"output": "There."}},
        {"id": "b", "run_type": "tool", "trace_id": "a", "parent_run_id": "a", "name": "get_order",
         "inputs": {"input": "{'id': '7', 'fast': True}"}, "outputs": {"output": "shipped"}},
    ]  # fmt: skip
    assert calls_of(entry_of(runs)) == [("get_order", {"id": "7", "fast": True})]


def test_calls_of_weave_name_their_tools_and_inner_models() -> None:
    calls = [
        {"id": "1", "op_name": "weave:///ada/shop/op/run:1", "trace_id": "t", "parent_id": None, "started_at": "1",
         "inputs": {"self": "x", "messages": ASKED}, "output": "It has shipped."},
        {"id": "2", "op_name": "weave:///ada/shop/op/chat:1", "trace_id": "t", "parent_id": "1", "started_at": "2",
         "inputs": {"messages": ASKED, "tools": [TOOL]}, "output": {"choices": [{"index": 0, "message": CALLED}]}},
        {"id": "3", "op_name": "weave:///ada/shop/op/get_order:1", "trace_id": "t", "parent_id": "1", "started_at": "3",
         "inputs": {"id": "7"}, "output": None, "exception": "no such order",
         "attributes": {"weave": {"kind": "tool"}}},
        {"id": "4", "op_name": "weave:///ada/shop/op/chat:1", "trace_id": "t", "parent_id": "1", "started_at": "4",
         "inputs": {"messages": [{"role": "user", "content": "Another."}]}, "output": "There is none."},
    ]  # fmt: skip
    found = entry_of(calls)
    assert calls_of(found) == [("get_order", {"id": "7"})]
    assert found.trial is not None
    assert [(each.content, each.is_error) for each in found.trial.transcript.messages if each.role == "tool"] == [
        ("no such order", True)
    ]


def test_messages_that_are_references_are_refused_by_name() -> None:
    call = {"id": "1", "op_name": "o", "trace_id": "t", "inputs": {"messages": "weave:///ada/m:1"}, "output": ""}
    (_, found), *_ = evaluation_file(json.dumps([call]).encode()).entries()
    assert "is a reference" in str(found)


def test_a_handler_for_langchain_keeps_calls_beside_a_message_and_tools_among_them() -> None:
    offered = {"role": "tool", "content": TOOL}
    called = {"role": "assistant", "content": "", "additional_kwargs": {"tool_calls": CALLED["tool_calls"]}}
    result = {"role": "get_order", "content": "It has shipped.", "additional_kwargs": {}}
    found = entry_of([
        *langfuse(json.dumps([*ASKED, offered]), json.dumps(called)),
        *langfuse(json.dumps([*ASKED, called, result, offered]), '{"role": "assistant", "content": "Shipped."}',
                  id="o2", startTime="2"),
    ])  # fmt: skip
    assert found.example is not None
    assert found.example.input == {"messages": ASKED}
    assert [tool.name for tool in found.example.tools or () if not isinstance(tool, str)] == ["get_order"]
    assert calls_of(found) == [("get_order", {"id": "7"})]
    assert found.trial is not None
    answered = found.trial.transcript.messages[1]
    assert (answered.role, answered.call_id, answered.content) == ("tool", "c1", "It has shipped.")
    assert found.trial.transcript.answer == "Shipped."


def test_calls_that_stand_as_the_text_of_a_result_are_calls() -> None:
    written = {"role": "tool", "content": json.dumps([{"id": "c1", "type": "function", "function": FUNCTION}])}
    found = entry_of(langfuse(json.dumps([*ASKED, written, {"role": "tool", "content": "shipped"}]), '"Shipped."'))
    assert found.example is not None
    assert [each["role"] for each in found.example.input["messages"]] == ["user", "assistant", "tool"]


GEMINI = {"contents": [{"role": "user", "parts": [{"text": "Where is ORD-9182?"}]}]}
GEMINI_CALL = {"role": "model", "parts": [{"functionCall": {"name": "get_order", "args": {"id": "7"}}}]}


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ({"model": "gemini-2", **GEMINI}, {"content": GEMINI_CALL, "finish_reason": "STOP"}),
        ({"model": "gemini-2", "contents": "Where is ORD-9182?"}, {"candidates": [{"content": GEMINI_CALL}]}),
        ({"args": ["Where is ORD-9182?"], "kwargs": {}}, CALLED),
        ({"args": [], "kwargs": {"question": "Where is ORD-9182?"}}, CALLED),
        (ASKED, [{"toolCallId": "c1", "toolName": "get_order", "input": '{"id": "7"}'}]),
        (ASKED, {"content": [{"type": "tool_use", "id": "c1", "name": "get_order", "input": {"id": "7"}}],
                 "stop_reason": "tool_use"}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("made_by", [langfuse, phoenix])
def test_a_request_is_no_question_and_its_settings_are_no_ones_words(given: Any, made: Any, made_by: Any) -> None:
    found = entry_of(made_by(json.dumps(given), json.dumps(made)))
    assert found.example is not None
    assert found.example.input["messages"] == ASKED
    assert calls_of(found) == [("get_order", {"id": "7"})]


def test_a_call_of_a_model_that_two_spans_tell_of_counts_once_and_an_empty_one_not() -> None:
    usage = {"usageDetails": {"input": 10, "output": 2}}
    asked, called = json.dumps(ASKED), json.dumps(CALLED)
    found = entry_of([
        *langfuse("", "", id="o0", startTime="0"),
        *langfuse(asked, called, **usage),
        *langfuse(json.dumps("user: Where is ORD-9182?"), called, id="o2", startTime="2", parentObservationId="o1"),
    ])  # fmt: skip
    assert calls_of(found) == [("get_order", {"id": "7"})]
    assert found.trial is not None
    assert found.trial.transcript.error is None
    # A loop of several calls is none itself.
    answered = json.dumps([*ASKED, CALLED, {"role": "tool", "tool_call_id": "c1", "content": "shipped"}])
    found = entry_of([
        *langfuse(json.dumps({"prompt": "Where is ORD-9182?"}), '"Shipped."', **usage),
        *langfuse(asked, called, id="o2", startTime="2", parentObservationId="o1", **usage),
        *langfuse(answered, '"Shipped."', id="o3", startTime="3", parentObservationId="o1", **usage),
    ])  # fmt: skip
    assert calls_of(found) == [("get_order", {"id": "7"})]
    assert found.trial is not None
    assert found.trial.transcript.usage == {"input_tokens": 20, "output_tokens": 4}
    # What the last call answered is not known.
    found = entry_of([*langfuse(asked, called), *langfuse(answered, "null", id="o2", startTime="2", output=None)])
    assert found.trial is not None
    assert "has no output" in str(found.trial.transcript.error)


def test_what_is_wrong_with_a_span_is_placed_in_its_trace() -> None:
    steps = langfuse(json.dumps([{**ASKED[0], "mood": "calm"}]), '"Hi."')
    found = entry_of([{"id": "t1", "observations": steps}])
    assert [loss.pointer for loss in found.losses] == ["/observations/0/input/0/mood"]
    steps = langfuse(json.dumps({"messages": ["role='user' content='Hi.'"]}), '"Hi."')
    ((_, refused),) = evaluation_file(json.dumps([{"id": "t1", "observations": steps}]).encode()).entries()
    assert "/0/observations/0/input/messages/0" in str(refused)


def test_what_a_tool_was_given_is_no_question_of_a_user() -> None:
    step = {"id": "o1", "traceId": "t1", "type": "TOOL", "name": "get_order", "input": {"q": "7"}, "output": "shipped"}
    file = evaluation_file(json.dumps([step]).encode())
    ((_, found),) = file.entries()
    assert isinstance(found, Entry)
    assert calls_of(found) == [("get_order", {"q": "7"})]
    assert found.trial is not None
    assert found.trial.transcript.answer is None
    ((_, refused),) = file.examples()
    assert "was not recorded" in str(refused)
