"""Messages of every provider, read into one transcript."""

import pytest

from tests.grading.reading.parsing.one_transcript import (
    ANTHROPIC,
    LANGCHAIN,
    MCP,
    NATIVE,
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    TRANSCRIPT,
    answered,
    gemini,
)
from toolevals.grading.reading.parsing import read_transcript, transcript_in
from toolevals.grading.values import MalformedCall, Message, ToolCall, ToolResult


@pytest.mark.parametrize(
    ("document", "name"),
    [
        (OPENAI_CHAT, "openai_chat"),
        (OPENAI_RESPONSES, "openai_responses"),
        (ANTHROPIC, "anthropic"),
        (LANGCHAIN, "langchain"),
        (NATIVE, "native"),
        ({"messages": OPENAI_CHAT, "model": "m"}, "openai_chat"),
        ({"messages": ANTHROPIC, "model": "m", "max_tokens": 9}, "anthropic"),
        ({"input": OPENAI_RESPONSES}, "openai_responses"),
        (TRANSCRIPT.to_document(), "native"),
    ],
)
def test_every_form_is_one_transcript_whether_its_name_is_given_or_found(document, name):
    assert transcript_in(document) == TRANSCRIPT
    assert transcript_in(document, name) == TRANSCRIPT


def test_a_thought_without_a_message_of_the_agent_is_left_out_by_name():
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]}
    read = read_transcript([thought, {"role": "user", "content": "And?"}, thought], "openai_responses")
    assert [message.thought for message in read.transcript.messages] == [None]
    assert [(loss.what, loss.count) for loss in read.losses] == [("reasoning", 2)]


@pytest.mark.parametrize(
    ("call", "response"), [("functionCall", "functionResponse"), ("function_call", "function_response")]
)
def test_gemini_has_no_ids_and_its_results_are_put_to_their_calls_by_name(call, response):
    transcript = transcript_in({"contents": gemini(call, response)})
    assert transcript == transcript_in(gemini(call, response), "gemini")
    assert [message.call_id for message in transcript.messages if message.role == "tool"] == ["call-2", "call-1"]
    assert transcript.calls == (
        ToolCall("get_order", {"id": "A-1"}, "call-1"),
        ToolCall("get_stock", {"sku": 7}, "call-2"),
    )
    assert answered(transcript) == [("get_stock", "no such sku", True), ("get_order", '{"state":"sent"}', False)]
    assert transcript.answer == "It was sent."


def test_gemini_results_of_the_same_tool_come_in_the_order_of_the_calls():
    parts = [{"functionCall": {"name": "a", "args": {"x": x}}} for x in (1, 2)]
    results = [{"functionResponse": {"name": "a", "response": {"output": x}}} for x in ("one", "two")]
    transcript = transcript_in([{"role": "model", "parts": parts}, {"role": "user", "parts": results}])
    assert transcript.results == (
        ToolResult(ToolCall("a", {"x": 1}, "call-1"), "one", is_error=False),
        ToolResult(ToolCall("a", {"x": 2}, "call-2"), "two", is_error=False),
    )


def test_a_call_that_gemini_itself_could_not_read_is_malformed():
    response = {
        "candidates": [
            {
                "finishReason": "MALFORMED_FUNCTION_CALL",
                "finishMessage": "Malformed function call: print(a.b(",
                "index": 0,
            }
        ],
        "usageMetadata": {"promptTokenCount": 12, "candidatesTokenCount": 0},
    }
    transcript = transcript_in(response)
    (call,) = transcript.calls
    assert isinstance(call, MalformedCall)
    assert call.text == "Malformed function call: print(a.b("
    assert transcript.usage == {"input_tokens": 12, "output_tokens": 0}


def test_mcp_requests_and_results_meet_by_their_ids():
    transcript = transcript_in(MCP)
    assert transcript.calls == (
        ToolCall("get_order", {"id": "A-1"}, "1"),
        ToolCall("get_stock", {"sku": 7}, "2"),
        ToolCall("get_size", {}, "s"),
    )
    assert len(transcript.messages[0].calls) == 3
    assert answered(transcript) == [
        ("get_stock", "no such sku", True),
        ("get_order", '{"state":"sent"}', False),
        ("get_size", "Unknown tool: get_size", True),
    ]


def test_a_bare_mcp_result_is_a_result():
    transcript = transcript_in({"content": [{"type": "text", "text": "down"}], "isError": True})
    assert transcript.messages == (Message("tool", "down", is_error=True),)
