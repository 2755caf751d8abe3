"""One transcript in the forms of every provider: for the tests of reading messages."""

from typing import Any

from toolevals.grading.values import Message, ToolCall, Transcript

ORDER, STOCK = ToolCall("get_order", {"id": "A-1"}, "c1"), ToolCall("get_stock", {"sku": 7}, "c2")
TRANSCRIPT = Transcript(
    (
        Message("user", "Where is A-1?"),
        Message("assistant", "I will look.", (ORDER, STOCK), thought="Hm."),
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
        "reasoning_content": "Hm.",
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
        "additional_kwargs": {"reasoning_content": "Hm."},
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
