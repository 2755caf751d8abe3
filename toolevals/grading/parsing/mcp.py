"""MCP: JSON-RPC requests `tools/call` and their responses, or bare results.

Source: https://modelcontextprotocol.io/specification, server/tools. An `isError` result and a JSON-RPC error are both
errors. Messages about anything but calls are left aside.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from toolevals.grading.parsing.content import result_text
from toolevals.grading.parsing.json_calls import call_of, identifier_in
from toolevals.grading.parsing.turns import AssistantDraft, Turn
from toolevals.grading.values import Message

_METHOD = "tools/call"


def recognises(item: dict[str, Any]) -> bool:
    """Tell whether an item can be nothing else."""
    return "jsonrpc" in item or item.get("method") == _METHOD or isinstance(item.get("isError"), bool)


def accepts(item: dict[str, Any]) -> bool:
    """Tell whether an item can be read or is known to be left aside."""
    return any(key in item for key in ("method", "result", "error", "content"))


def turns(items: Iterable[dict[str, Any]]) -> Iterator[Turn]:
    """Read requests and responses. Requests that no response parts are calls in parallel: one message."""
    draft = AssistantDraft()
    asked: set[str | None] = set()
    for item in items:
        identifier = identifier_in(item, "id")
        if item.get("method") == _METHOD:
            given = item.get("params")
            params = given if isinstance(given, dict) else {}
            draft.calls.append(call_of(params.get("name"), params.get("arguments"), identifier, shown_as=item))
            asked.add(identifier)
        elif "method" not in item and ("id" not in item or identifier in asked):
            yield from draft.end()
            yield _result(item, identifier)
    yield from draft.end()


def _result(item: dict[str, Any], identifier: str | None) -> Turn:
    if (error := item.get("error")) is not None:
        message = error.get("message") if isinstance(error, dict) else error
        return Turn(Message("tool", result_text(message), call_id=identifier, is_error=True))
    result = item.get("result", item)
    if not isinstance(result, dict):
        return Turn(Message("tool", result_text(result), call_id=identifier))
    content = result.get("content")
    text = result_text(content if content or "structuredContent" not in result else result["structuredContent"])
    return Turn(Message("tool", text, call_id=identifier, is_error=result.get("isError") is True))
