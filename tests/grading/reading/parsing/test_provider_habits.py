"""Test what single providers do in their own way.

Whole responses, ids, tools of theirs, and calls that nobody can read.
"""

from pathlib import Path

import pytest
from hypothesis import given

from tests.grading.reading.parsing.one_transcript import (
    ANTHROPIC,
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    TRANSCRIPT,
    answered,
    gemini,
)
from tests.grading.strategies import json_values
from toolevals.grading.reading.parsing import FORMATS, MESSAGE_FORMATS, read_transcript, transcript_in
from toolevals.grading.values import MalformedCall, Message, ToolCall, ToolResult, Transcript
from toolevals.grading.values.canonical import canonical
from toolevals.grading.values.documents import schema
from toolevals.grading.values.problems import InvalidDocument


@pytest.mark.parametrize(
    "response",
    [
        {
            "object": "chat.completion",
            "choices": [{"index": 0, "message": OPENAI_CHAT[1]}, {"index": 1, "message": {"role": "assistant"}}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
        },
        {"object": "response", "output": OPENAI_RESPONSES[1:5], "usage": {"input_tokens": 3, "output_tokens": 4}},
        {
            **ANTHROPIC[1],
            "type": "message",
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 3, "output_tokens": 4},
        },
    ],
)
def test_a_whole_response_is_one_message_with_its_usage(response):
    transcript = transcript_in(response)
    assert transcript.messages == TRANSCRIPT.messages[1:2]
    assert transcript.usage == {"input_tokens": 3, "output_tokens": 4}
    assert transcript.answer is None


@pytest.mark.parametrize(
    "response",
    [
        {
            "model": "small", "created_at": "2026-01-01T00:00:00Z", "done": True, "done_reason": "stop",
            "total_duration": 9, "prompt_eval_count": 3, "eval_count": 4,
            "message": {"role": "assistant", "content": "", "thinking": "Hm.", "tool_calls": [
                {"function": {"name": "seek", "arguments": {"city": "Oslo"}}}]},
        },
        {
            "id": "c", "finish_reason": "TOOL_CALL",
            "usage": {"billed_units": {"input_tokens": 1}, "tokens": {"input_tokens": 3, "output_tokens": 4}},
            "message": {"role": "assistant", "tool_plan": "I will seek.", "tool_calls": [
                {"id": "s", "type": "function", "function": {"name": "seek", "arguments": '{"city": "Oslo"}'}}]},
        },
    ],
)  # fmt: skip
def test_a_whole_response_of_ollama_or_cohere_is_its_message_with_its_usage(response):
    read = read_transcript(response)
    (call,) = read.transcript.calls
    assert isinstance(call, ToolCall)
    assert (call.name, call.arguments) == ("seek", {"city": "Oslo"})
    assert read.transcript.usage == {"input_tokens": 3, "output_tokens": 4}
    assert read.losses == ()
    assert read.transcript.messages[0].thought in ("Hm.", "I will seek.")


def test_a_whole_gemini_response_is_its_first_candidate():
    content = gemini("functionCall", "functionResponse")[1]
    transcript = transcript_in({"candidates": [{"content": content, "finishReason": "STOP"}, {"content": {}}]})
    assert [call.name for call in transcript.calls] == ["get_order", "get_stock"]


def test_the_older_function_call_meets_the_functions_message():
    transcript = transcript_in(
        [
            {"role": "assistant", "content": None, "function_call": {"name": "a", "arguments": "{}"}},
            {"role": "function", "name": "a", "content": "fine"},
        ]
    )
    assert transcript.results == (ToolResult(ToolCall("a", {}, "call-1"), "fine", is_error=False),)


def test_an_id_of_ours_is_never_one_of_theirs():
    transcript = transcript_in(
        [
            {"role": "assistant", "tool_calls": [{"name": "a"}, {"name": "b", "id": "call-1"}]},
            {"role": "tool", "name": "a", "content": "of a"},
            {"role": "tool", "tool_call_id": "call-1", "content": "of b"},
        ]
    )
    assert answered(transcript) == [("a", "of a", False), ("b", "of b", False)]


def test_an_id_that_comes_again_means_the_last_call_before_the_result():
    transcript = Transcript(
        (
            Message("assistant", calls=(ToolCall("a", {}, "1"),)),
            Message("tool", "of a", call_id="1"),
            Message("assistant", calls=(ToolCall("b", {}, "1"),)),
            Message("tool", "of b", call_id="1"),
        )
    )
    assert answered(transcript) == [("a", "of a", False), ("b", "of b", False)]


@pytest.mark.parametrize(
    "document",
    [
        [{"role": "assistant", "tool_calls": [{"id": "1", "type": "custom", "custom": {"name": "sh", "input": "ls"}}]}],
        {"output": [{"type": "custom_tool_call", "call_id": "1", "name": "sh", "input": "ls"}]},
    ],
)
def test_a_tool_of_free_text_has_it_as_its_input(document):
    assert transcript_in(document).calls == (ToolCall("sh", {"input": "ls"}, "1"),)


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"role": "assistant", "tool_calls": "x"}, "not an object"),
        ({"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "a", "arguments": "{"}}]}, "not JSON"),
        ({"role": "assistant", "function_call": "a()"}, "not an object"),
        ({"output": [{"type": "function_call", "call_id": "1", "arguments": "{}"}]}, "no name"),
        (
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "a", "input": [1]}]},
            "not an object",
        ),
        ({"parts": [{"functionCall": {"args": {}}}]}, "no name"),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/call"}, "no name"),
        (
            {
                "type": "ai",
                "invalid_tool_calls": [{"name": "a", "args": "{]", "id": "1", "error": None}],
                "content": "",
            },
            "not JSON",
        ),
        (
            {"type": "ai", "invalid_tool_calls": [{"name": "a", "args": "{}", "error": "refused"}], "content": ""},
            "refused",
        ),
    ],
)
def test_a_call_that_cannot_be_read_is_malformed_in_every_form(document, reason):
    (call,) = transcript_in(document).calls
    assert isinstance(call, MalformedCall)
    assert reason in call.reason


def test_a_malformed_call_keeps_the_id_that_its_result_has():
    sent = [
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "a", "arguments": "{"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "bad arguments"},
    ]
    transcript = transcript_in(sent)
    assert transcript.calls[0].id == transcript.messages[1].call_id == "1"
    assert transcript.results[0].call is None


@pytest.mark.parametrize(
    ("document", "name", "pointer"),
    [
        ("hello", None, ""),
        ([3], None, "/0"),
        ([{"role": "user"}, {}], None, "/1"),
        ({"messages": [{"content": "x"}]}, None, "/messages/0"),
        ({"choices": [{"text": "x"}]}, None, "/choices/0/message"),
        ({"error": {"message": "overloaded"}}, None, ""),
        (OPENAI_CHAT, "gemini", "/0"),
        (OPENAI_CHAT, "langchain", "/0"),
        (OPENAI_RESPONSES, "openai_chat", "/1"),
        ([{"role": "user", "content": "\0"}], None, "/0/content"),
        ([{"role": "user", "content": float("nan")}], None, "/0/content"),
        (OPENAI_CHAT, "openai", ""),
    ],
)
def test_what_holds_no_messages_is_refused_with_its_place(document, name, pointer):
    with pytest.raises(InvalidDocument) as caught:
        transcript_in(document, name)
    assert [problem.pointer for problem in caught.value.problems] == [pointer]


@pytest.mark.parametrize("name", [None, *MESSAGE_FORMATS])
@given(json_values)
def test_no_json_is_an_error_of_another_kind(name, value):
    for document in (value, [value], {"messages": [value]}, [{"role": "assistant", "content": [value]}]):
        try:
            transcript = transcript_in(document, name)
        except InvalidDocument:
            continue
        assert canonical(transcript.to_document())


def test_the_table_of_formats_in_the_documents_is_the_table_of_the_code():
    text = (Path(__file__).parents[4] / "docs" / "importing.md").read_text("utf-8")
    rows = [
        f"| `{each.name}` | {each.label} | {each.calls_at} | {', '.join(each.losses) or 'none'} | {each.made_by} |"
        for each in FORMATS.values()
    ]
    heading = "| format | written by | calls | left out by name | documents of its tests |"
    table = text[text.index(heading) :].split("\n\n")[0].splitlines()
    assert table[2:] == rows
    assert set(schema("prediction")["properties"]["format"]["enum"]) == set(MESSAGE_FORMATS)
