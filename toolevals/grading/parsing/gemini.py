"""Gemini contents: parts with `text`, `functionCall`, `functionResponse`, in camelCase or snake_case.

Source: https://ai.google.dev/api/caching#Content. Calls mostly have no ids: results are put to them by name and order.
A candidate that ends with MALFORMED_FUNCTION_CALL is a call that nobody can read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from toolevals.grading.parsing.content import result_text, text_in
from toolevals.grading.parsing.json_calls import LONGEST_SHOWN, call_of, identifier_in
from toolevals.grading.parsing.turns import Turn
from toolevals.grading.values import Call, MalformedCall, Message

_ROLES = {"model": "assistant", "function": "user"}


def recognises(item: dict[str, Any]) -> bool:
    """Tell whether an item can be nothing else."""
    return isinstance(item.get("parts"), list)


def accepts(item: dict[str, Any]) -> bool:
    """Tell whether an item can be read: a content, or a candidate that holds one."""
    return (
        "parts" in item
        or isinstance(item.get("content"), dict)
        or _either(item, "finishReason", "finish_reason") is not None
    )


def turns(items: Iterable[dict[str, Any]]) -> Iterator[Turn]:
    """Read contents and candidates."""
    for item in items:
        inner = item.get("content")
        content = inner if isinstance(inner, dict) else item
        parts = content.get("parts")
        yield from _content(_role(content), parts if isinstance(parts, list) else [], _spoilt(item))


def _content(role: str, parts: list[Any], calls: list[Call]) -> Iterator[Turn]:
    texts: list[Any] = []
    answered = False
    for part in parts:
        if not isinstance(part, dict):
            continue
        if isinstance(call := _either(part, "functionCall", "function_call"), dict):
            calls.append(call_of(call.get("name"), call.get("args"), identifier_in(call, "id"), shown_as=part))
        elif isinstance(response := _either(part, "functionResponse", "function_response"), dict):
            answered = True
            yield _result(response)
        else:
            texts.append(part)
    if texts or calls or not answered:
        yield Turn(Message(role, text_in(texts), tuple(calls)))


def _result(response: dict[str, Any]) -> Turn:
    name, given = response.get("name"), response.get("response")
    failed = isinstance(given, dict) and bool(given.get("error")) and "output" not in given and "result" not in given
    if isinstance(given, dict) and len(given) == 1 and given.keys() <= {"output", "result", "error"}:
        (given,) = given.values()
    message = Message("tool", result_text(given), call_id=identifier_in(response, "id"), is_error=failed)
    return Turn(message, name if isinstance(name, str) else None)


def _spoilt(candidate: dict[str, Any]) -> list[Call]:
    if _either(candidate, "finishReason", "finish_reason") != "MALFORMED_FUNCTION_CALL":
        return []
    said = _either(candidate, "finishMessage", "finish_message")
    text = said[:LONGEST_SHOWN] if isinstance(said, str) else ""
    return [MalformedCall("the provider could not read the call that the model wrote", text=text)]


def _role(content: dict[str, Any]) -> str:
    role = content.get("role")
    return _ROLES.get(role, role) if isinstance(role, str) and role else "assistant"


def _either(item: dict[str, Any], *keys: str) -> Any:
    return next((item[key] for key in keys if item.get(key) is not None), None)
