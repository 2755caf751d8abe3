"""OpenAI responses: a flat list of items, of which messages, function calls and their outputs are read.

Source: https://platform.openai.com/docs/api-reference/responses. Reasoning and the calls of built-in tools (web search,
code interpreter), which the provider makes and answers itself, are left aside. Calls of an MCP server hold their own
results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from toolevals.grading.parsing.content import result_text, text_in
from toolevals.grading.parsing.json_calls import call_of, free_text_call, identifier_in
from toolevals.grading.parsing.turns import AssistantDraft, Turn
from toolevals.grading.values import Call, Message

_CALLS = ("function_call", "custom_tool_call", "mcp_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output")
_TEXT_BLOCKS = ("input_text", "output_text", "input_image", "input_file")


def recognises(item: dict[str, Any]) -> bool:
    """Tell whether an item can be nothing else."""
    if item.get("type") in (*_CALLS, *_OUTPUTS, "reasoning") and "role" not in item:
        return True
    content = item.get("content")
    return isinstance(content, list) and any(
        isinstance(block, dict) and block.get("type") in _TEXT_BLOCKS for block in content
    )


def accepts(item: dict[str, Any]) -> bool:
    """Tell whether an item can be read or is known to be left aside."""
    return isinstance(item.get("role"), str) or isinstance(item.get("type"), str)


def turns(items: Iterable[dict[str, Any]]) -> Iterator[Turn]:
    """Read items. What the assistant says and the calls that follow it are one message."""
    draft = AssistantDraft()
    for item in items:
        kind = item.get("type")
        if kind in _CALLS:
            yield from _call(item, draft)
        elif kind in _OUTPUTS:
            yield from draft.end()
            yield _result(item, item.get("output"), failed=item.get("is_error") is True)
        elif isinstance(role := item.get("role"), str):
            text = text_in(item.get("content"))
            if role == "assistant":
                yield from draft.say(text)
            else:
                yield from draft.end()
                yield Turn(Message(role, text))
    yield from draft.end()


def _call(item: dict[str, Any], draft: AssistantDraft) -> Iterator[Turn]:
    identifier = identifier_in(item, "call_id", "id")
    call: Call
    if item["type"] == "custom_tool_call":
        call = free_text_call(item.get("name"), item.get("input"), identifier)
    else:
        call = call_of(item.get("name"), item.get("arguments"), identifier, shown_as=item)
    draft.calls.append(call)
    if item["type"] == "mcp_call" and (item.get("output") is not None or item.get("error") is not None):
        yield from draft.end()
        failed = item.get("error") is not None
        yield _result(item, item["error"] if failed else item["output"], failed=failed)


def _result(item: dict[str, Any], output: Any, *, failed: bool) -> Turn:
    identifier = identifier_in(item, "call_id", "id")
    return Turn(Message("tool", result_text(output), call_id=identifier, is_error=failed))
