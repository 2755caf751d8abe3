"""Reads MCP: JSON-RPC requests `tools/call` and their responses, or bare results.

Source: https://modelcontextprotocol.io/specification, server/tools. An `isError` result and a JSON-RPC error are both
errors. Messages about anything but calls are losses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolevals.grading.reading.parsing.content import result_said
from toolevals.grading.reading.parsing.formats.transcript_format import Item, Placed, TranscriptFormat
from toolevals.grading.reading.parsing.json_calls import call_of, identifier_in
from toolevals.grading.reading.parsing.losses import Account
from toolevals.grading.reading.parsing.turns import AssistantDraft, Turn
from toolevals.grading.values import Message

_METHOD = "tools/call"
_OTHERS = ("initialize", "ping", "tools/list", "notifications/", "prompts/", "resources/", "completion/", "logging/",
           "sampling/", "roots/", "elicitation/", "tasks/")  # fmt: skip
_REQUEST = frozenset({"jsonrpc", "id", "method", "params"})
_PARAMS = frozenset({"name", "arguments", "_meta", "task"})
_RESPONSE = frozenset({"jsonrpc", "id", "result", "error"})
_RESULT = frozenset({"content", "structuredContent", "isError", "_meta", "resultType"})
_LOSS = "message about something else than calls"


def _sign(item: Item) -> str | None:
    if "jsonrpc" in item:
        return "a message has `jsonrpc`"
    if item.get("method") == _METHOD:
        return f"a message has the method `{_METHOD}`"
    return "a result has `isError`" if isinstance(item.get("isError"), bool) else None


def _accepts(item: Item) -> bool:
    return any(key in item for key in ("method", "result", "error", "content"))


def _turns(items: Iterable[Placed], account: Account) -> Iterator[Turn]:
    """Read requests and responses. Requests that no response parts are calls in parallel: one message."""
    draft = AssistantDraft()
    asked: set[str | None] = set()
    for pointer, item in items:
        identifier = identifier_in(item, "id")
        if (method := item.get("method")) == _METHOD:
            params = _params(item)
            account.rest(item, _REQUEST, pointer)
            account.rest_of_call(params, _PARAMS, "arguments" in params, f"{pointer}/params")
            draft.calls.append(call_of(params.get("name"), params.get("arguments"), identifier, shown_as=item))
            asked.add(identifier)
        elif "method" not in item and ("id" not in item or identifier in asked):
            yield from draft.end()
            yield _result(item, pointer, identifier, account)
        elif "method" in item and not _is_other(method) and "name" in _params(item):
            raise account.refusal(f"{pointer}/method")
        elif ("method" in item and not _is_other(method)) or not (
            "method" in item or "result" in item or "error" in item
        ):
            account.unknown_part(pointer, item)
        else:
            account.rest(item, _REQUEST | _RESPONSE, pointer)
            account.lost(pointer, _LOSS)
    yield from draft.end()


def _params(item: Item) -> Item:
    params = item.get("params")
    return params if isinstance(params, dict) else {}


def _is_other(method: object) -> bool:
    return isinstance(method, str) and method.startswith(_OTHERS)


def _result(item: Item, pointer: str, identifier: str | None, account: Account) -> Turn:
    if "result" in item or "error" in item:
        account.rest(item, _RESPONSE, pointer)
        here = f"{pointer}/result"
    else:
        account.rest(item, _RESULT | _RESPONSE, pointer)
        here = pointer
    if (error := item.get("error")) is not None:
        message = error.get("message") if isinstance(error, dict) else error
        text = result_said(message, f"{pointer}/error/message", account)
        return Turn(Message("tool", text, call_id=identifier, is_error=True))
    result = item.get("result", item)
    if not isinstance(result, dict):
        return Turn(Message("tool", result_said(result, here, account), call_id=identifier))
    if result is not item:
        account.rest(result, _RESULT, here)
    content, structured = result.get("content"), result.get("structuredContent")
    if content or "structuredContent" not in result:
        text = result_said(content, f"{here}/content", account)
    else:
        text = result_said(structured, f"{here}/structuredContent", account)
    return Turn(Message("tool", text, call_id=identifier, is_error=result.get("isError") is True))


MCP = TranscriptFormat(
    name="mcp",
    label="MCP",
    sign=_sign,
    accepts=_accepts,
    item="a JSON-RPC message",
    turns=_turns,
    calls_at="`params` of a request with the method `tools/call`",
    keys=frozenset({"isError", "structuredContent", *_REQUEST, *_PARAMS}),
    made_by="published schema",
    losses=(_LOSS, "image", "audio", "file"),
)
