"""A tool that the provider runs is none of the agent, in each format of messages and of lists of tools, by name."""

from __future__ import annotations

from typing import Any

import pytest

from toolevals.grading.reading.parsing import FORMATS, read_transcript
from toolevals.grading.reading.parsing.provider_run import PROVIDER_RUN
from toolevals.grading.reading.specs import FORMATS as LISTS
from toolevals.grading.reading.specs import read_tools
from toolevals.grading.values import ToolCall
from toolevals.grading.values.problems import Problem

WORDS = "Found it."
SEARCH = {"query": "x"}
CHAT_CALL = {"id": "srvtoolu_1", "type": "function", "function": {"name": "web_search", "arguments": "{}"}}


def _assistant(*parts: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": list(parts)}]


CASES: list[tuple[str, list[dict[str, Any]]]] = [
    ("anthropic", _assistant(
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": SEARCH},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
        {"type": "text", "text": WORDS},
    )),
    ("anthropic", _assistant(
        {"type": "mcp_tool_use", "id": "m1", "name": "web_search", "server_name": "s", "input": SEARCH},
        {"type": "mcp_tool_result", "tool_use_id": "m1", "is_error": False, "content": [{"type": "text", "text": "y"}]},
        {"type": "text", "text": WORDS},
    )),
    ("openai_responses", [
        {"type": "mcp_call", "id": "m1", "name": "web_search", "arguments": "{}", "output": "y", "server_label": "s"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": WORDS}]},
    ]),
    ("openai_responses", [
        {"type": "web_search_call", "id": "w1", "status": "completed", "action": {"type": "search", "query": "x"}},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": WORDS}]},
    ]),
    ("openai_chat", [
        {"role": "assistant", "content": WORDS, "tool_calls": [CHAT_CALL]},
    ]),
    ("openai_chat", [
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "b1", "type": "builtin_function", "function": {"name": "web_search", "arguments": "{}"}},
        ]},
        {"role": "tool", "tool_call_id": "b1", "content": "y"},
        {"role": "assistant", "content": WORDS},
    ]),
    ("gemini", [{"role": "model", "parts": [
        {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
        {"text": WORDS},
    ]}]),
    ("gemini", [{"role": "model", "parts": [
        {"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "args": SEARCH, "id": "g1"}},
        {"toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "response": {"a": "b"}, "id": "g1"}},
        {"text": WORDS},
    ]}]),
    ("adk_events", [{"author": "agent", "content": {"role": "model", "parts": [
        {"executable_code": {"language": "PYTHON", "code": "print(1)"}},
        {"code_execution_result": {"outcome": "OUTCOME_OK", "output": "1"}},
        {"text": WORDS},
    ]}}]),
    ("pydantic_ai", [{"kind": "response", "parts": [
        {"part_kind": "builtin-tool-call", "tool_name": "web_search", "args": SEARCH, "tool_call_id": "b1"},
        {"part_kind": "builtin-tool-return", "tool_name": "web_search", "content": "y", "tool_call_id": "b1"},
        {"part_kind": "text", "content": WORDS},
    ]}]),
    ("ai_sdk", [
        {"role": "assistant", "content": [
            {"type": "tool-call", "toolCallId": "t", "toolName": "web_search", "input": SEARCH,
             "providerExecuted": True},
        ]},
        {"role": "tool", "content": [
            {"type": "tool-result", "toolCallId": "t", "toolName": "web_search",
             "output": {"type": "text", "value": "y"}},
        ]},
        {"role": "assistant", "content": WORDS},
    ]),
    ("ai_sdk_ui", [{"role": "assistant", "parts": [
        {"type": "tool-web_search", "toolCallId": "t", "state": "output-available", "input": SEARCH, "output": "y",
         "providerExecuted": True},
        {"type": "text", "text": WORDS},
    ]}]),
    ("langchain", [{"type": "ai", "content": [
        {"type": "server_tool_call", "name": "web_search", "args": SEARCH, "id": "l1"},
        {"type": "server_tool_result", "tool_call_id": "l1", "status": "success", "output": "y"},
        {"type": "text", "text": WORDS},
    ]}]),
    ("langchain", [{"type": "ai", "content": [
        {"type": "server_tool_use", "name": "web_search", "input": SEARCH, "id": "l1"},
        {"type": "web_search_tool_result", "tool_use_id": "l1", "content": []},
        {"type": "text", "text": WORDS},
    ]}]),
    ("otel_genai", [{"role": "assistant", "parts": [
        {"type": "server_tool_call", "id": "o1", "name": "web_search", "server_tool_call": {"type": "web_search"}},
        {"type": "server_tool_call_response", "id": "o1", "server_tool_call_response": {"type": "web_search"}},
        {"type": "text", "content": WORDS},
    ]}]),
    ("otel_genai", [{"role": "assistant", "parts": [
        {"type": "tool_call", "id": "o1", "name": "web_search", "arguments": SEARCH, "builtin": True},
        {"type": "tool_call_response", "id": "o1", "name": "web_search", "result": "y", "builtin": True},
        {"type": "text", "content": WORDS},
    ]}]),
    ("bedrock_converse", _assistant(
        {"toolUse": {"toolUseId": "b1", "name": "web_search", "input": SEARCH, "type": "server_tool_use"}},
        {"toolResult": {"toolUseId": "b1", "content": [{"text": "y"}]}},
        {"text": WORDS},
    )),
]  # fmt: skip
# Nothing in these formats says who runs a tool.
WITHOUT = {"native", "mcp", "semantic_kernel", "llama_index"}


@pytest.mark.parametrize(("name", "document"), CASES, ids=[f"{name}-{at}" for at, (name, _) in enumerate(CASES)])
def test_it_is_no_call_and_its_result_no_result(name, document):
    read = read_transcript(document, name)
    assert (read.transcript.calls, read.transcript.results, read.transcript.answer) == ((), (), WORDS)
    named = [loss.what for loss in read.losses if loss.what.startswith(PROVIDER_RUN)]
    names = ("web_search", "code_execution", "GOOGLE_SEARCH_WEB")
    assert any(f"({name})" in what for what in named for name in names)
    assert all(loss.known for loss in read.losses)


@pytest.mark.parametrize(("name", "document"), CASES, ids=[f"{name}-{at}" for at, (name, _) in enumerate(CASES)])
def test_the_format_is_found_by_itself(name, document):
    assert read_transcript(document).transcript.calls == ()


def test_every_format_is_here():
    assert {name for name, _ in CASES} | WITHOUT == set(FORMATS)


def test_calls_of_the_agent_next_to_it_stay():
    content = [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": SEARCH},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
        {"type": "tool_use", "id": "u1", "name": "seek", "input": {"city": "Oslo"}},
    ]
    read = read_transcript([{"role": "assistant", "content": content}])
    assert read.transcript.calls == (ToolCall("seek", {"city": "Oslo"}, "u1"),)


OBJECT = {"type": "object"}
# A tool of the agent in each format of lists, and a tool that the provider runs as that provider, or a gateway, has it.
TOOLS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "openai": ({"type": "function", "function": {"name": "f", "parameters": OBJECT}}, {"type": "web_search_preview"}),
    "anthropic": (
        {"name": "f", "input_schema": OBJECT, "cache_control": {"type": "ephemeral"}},
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 3},
    ),
    "gemini": ({"functionDeclarations": [{"name": "f", "parameters": {"type": "OBJECT"}}]}, {"googleSearch": {}}),
    "mcp": ({"name": "f", "inputSchema": OBJECT}, {"type": "mcp", "server_label": "s"}),
    "bfcl": ({"name": "f", "parameters": {"type": "dict", "properties": {}}}, {"type": "code_interpreter"}),
    "native": ({"name": "f", "input_schema": OBJECT}, {"type": "builtin_function", "function": {"name": "$search"}}),
}
# Nothing in these formats says who runs a tool.
LISTS_WITHOUT = {"openapi", "skills"}


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("name", TOOLS)
def test_a_list_of_tools_leaves_it_out_by_name_wherever_it_stands(name, place):
    mine, provided = TOOLS[name]
    entries = [mine]
    entries.insert(place, provided)
    for document in (entries, {"tools": entries}):
        for read in (read_tools(document), read_tools(document, format=name)):
            assert [tool.name for tool in read.tools] == ["f"]
            (loss,) = read.losses
            assert "is a tool of the provider's own" in loss.message
            assert f"/{min(place, 1)}" in loss.pointer


@pytest.mark.parametrize("name", TOOLS)
def test_alone_it_is_a_list_of_no_tool(name):
    provided = TOOLS[name][1]
    for document in ([provided], {"tools": [provided]}):
        read = read_tools(document, format=name)
        assert (read.tools, len(read.losses)) == ([], 1)
        assert read_tools(document).tools == []


def test_every_format_of_lists_is_here():
    assert set(TOOLS) | LISTS_WITHOUT == set(LISTS)


def test_next_to_functions_in_one_tool_of_gemini_it_is_named():
    read = read_tools([{"functionDeclarations": [{"name": "f"}], "codeExecution": {}}])
    assert [tool.name for tool in read.tools] == ["f"]
    assert [loss.pointer for loss in read.losses] == ["/0/codeExecution"]


def test_a_tool_with_a_schema_of_its_own_is_the_agents_whatever_its_type():
    read = read_tools([{"type": "retrieval", "name": "f", "inputSchema": OBJECT}])
    assert [tool.name for tool in read.tools] == ["f"]
    assert read.losses == [Problem("/0/type", "is not carried over")]
