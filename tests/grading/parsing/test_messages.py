"""The same conversation in every provider's form is one transcript."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from tests.grading.strategies import json_values
from toolevals.grading.canonical import canonical
from toolevals.grading.documents import schema
from toolevals.grading.parsing import MESSAGE_FORMATS, transcript_in
from toolevals.grading.problems import InvalidDocument
from toolevals.grading.values import MalformedCall, Message, ToolCall, ToolResult, Transcript

ORDER, STOCK = ToolCall("get_order", {"id": "A-1"}, "c1"), ToolCall("get_stock", {"sku": 7}, "c2")
TRANSCRIPT = Transcript(
    (
        Message("user", "Where is A-1?"),
        Message("assistant", "I will look.", (ORDER, STOCK)),
        Message("tool", '{"state":"sent"}', call_id="c1"),
        Message("tool", "no such sku", call_id="c2", is_error=True),
        Message("assistant", "It was sent."),
    ),
    answer="It was sent.",
)

OPENAI_CHAT: list[Any] = [
    {"role": "user", "content": "Where is A-1?"},
    {
        "role": "assistant",
        "content": "I will look.",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": '{"id": "A-1"}'}},
            {"id": "c2", "type": "function", "function": {"name": "get_stock", "arguments": {"sku": 7}}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": '{"state":"sent"}'},
    {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "no such sku"}], "is_error": True},
    {"role": "assistant", "content": "It was sent.", "refusal": None},
]
OPENAI_RESPONSES: list[Any] = [
    {"role": "user", "content": "Where is A-1?"},
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}]},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I will look."}]},
    {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "get_order", "arguments": '{"id":"A-1"}'},
    {"type": "function_call", "id": "fc_2", "call_id": "c2", "name": "get_stock", "arguments": '{"sku":7}'},
    {"type": "function_call_output", "call_id": "c1", "output": '{"state":"sent"}'},
    {"type": "function_call_output", "call_id": "c2", "output": "no such sku", "is_error": True},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It was sent."}]},
]
ANTHROPIC: list[Any] = [
    {"role": "user", "content": "Where is A-1?"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "x"},
            {"type": "text", "text": "I will look."},
            {"type": "tool_use", "id": "c1", "name": "get_order", "input": {"id": "A-1"}},
            {"type": "tool_use", "id": "c2", "name": "get_stock", "input": {"sku": 7}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": '{"state":"sent"}'},
            {
                "type": "tool_result",
                "tool_use_id": "c2",
                "content": [{"type": "text", "text": "no such sku"}],
                "is_error": True,
            },
        ],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "It was sent."}]},
]
LANGCHAIN: list[Any] = [
    {"type": "human", "content": "Where is A-1?"},
    {
        "type": "ai",
        "content": "I will look.",
        "tool_calls": [
            {"name": "get_order", "args": {"id": "A-1"}, "id": "c1", "type": "tool_call"},
            {"name": "get_stock", "args": {"sku": 7}, "id": "c2", "type": "tool_call"},
        ],
        "invalid_tool_calls": [],
    },
    {"type": "tool", "content": '{"state":"sent"}', "tool_call_id": "c1", "status": "success"},
    {"type": "tool", "data": {"content": "no such sku", "tool_call_id": "c2", "status": "error"}},
    {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", "AIMessage"],
        "kwargs": {"content": [{"type": "text", "text": "It was sent."}], "tool_calls": []},
    },
]
NATIVE = TRANSCRIPT.to_document()["messages"]


def answered(transcript: Transcript) -> list[tuple[str | None, str, bool]]:
    """Return each result: the tool that gave it, what it says, whether it is an error."""
    return [
        (None if result.call is None else result.call.name, result.content, result.is_error)
        for result in transcript.results
    ]


def gemini(call: str, response: str) -> list[dict[str, object]]:
    return [
        {"role": "user", "parts": [{"text": "Where is A-1?"}]},
        {
            "role": "model",
            "parts": [
                {"text": "Hm.", "thought": True},
                {"text": "I will look."},
                {call: {"name": "get_order", "args": {"id": "A-1"}}},
                {call: {"name": "get_stock", "args": {"sku": 7}}},
            ],
        },
        # Out of order: the names tell.
        {"role": "user", "parts": [{response: {"name": "get_stock", "response": {"error": "no such sku"}}}]},
        {"role": "user", "parts": [{response: {"name": "get_order", "response": {"state": "sent"}}}]},
        {"role": "model", "parts": [{"text": "It was sent."}]},
    ]


MCP: list[Any] = [
    {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}},
    {"jsonrpc": "2.0", "id": 0, "result": {"capabilities": {}}},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_order", "arguments": {"id": "A-1"}}},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "get_stock", "arguments": {"sku": 7}}},
    {"jsonrpc": "2.0", "id": "s", "method": "tools/call", "params": {"name": "get_size"}},
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}},
    {"jsonrpc": "2.0", "id": 2, "result": {"content": [{"type": "text", "text": "no such sku"}], "isError": True}},
    {"jsonrpc": "2.0", "id": 1, "result": {"content": [], "structuredContent": {"state": "sent"}, "isError": False}},
    {"jsonrpc": "2.0", "id": "s", "error": {"code": -32602, "message": "Unknown tool: get_size"}},
]


@pytest.mark.parametrize(
    ("document", "name"),
    [
        (OPENAI_CHAT, "openai_chat"),
        (OPENAI_RESPONSES, "openai_responses"),
        (ANTHROPIC, "anthropic"),
        (LANGCHAIN, "langchain"),
        (NATIVE, "native"),
        ({"messages": OPENAI_CHAT, "model": "m"}, "openai_chat"),
        ({"messages": ANTHROPIC, "system": "Be brief."}, "anthropic"),
        ({"input": OPENAI_RESPONSES}, "openai_responses"),
        (TRANSCRIPT.to_document(), "native"),
    ],
)
def test_every_form_is_one_transcript_whether_its_name_is_given_or_found(document, name):
    assert transcript_in(document) == TRANSCRIPT
    assert transcript_in(document, name) == TRANSCRIPT


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


def test_tools_that_the_provider_runs_answer_within_the_message():
    content = [
        {"type": "text", "text": "Searching."},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
        {
            "type": "web_search_tool_result",
            "tool_use_id": "s1",
            "content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
        },
        {"type": "text", "text": "Nothing."},
    ]
    transcript = transcript_in({"role": "assistant", "content": content})
    assert [message.role for message in transcript.messages] == ["assistant", "tool", "assistant"]
    assert transcript.results[0].is_error
    assert transcript.answer == "Nothing."


def test_a_call_of_an_mcp_server_in_a_response_holds_its_result():
    item = {"type": "mcp_call", "id": "m1", "name": "a", "arguments": '{"x": 1}', "output": None, "error": "timed out"}
    transcript = transcript_in({"output": [item]})
    assert transcript.results == (ToolResult(ToolCall("a", {"x": 1}, "m1"), "timed out", is_error=True),)


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


@pytest.mark.parametrize("name", MESSAGE_FORMATS)
def test_every_format_is_documented_and_in_the_schema(name):
    assert f"| `{name}` |" in (Path(__file__).parents[3] / "docs" / "grading.md").read_text("utf-8")
    assert set(schema("prediction")["properties"]["format"]["enum"]) == set(MESSAGE_FORMATS)
