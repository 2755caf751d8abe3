"""OpenAI chat completions: `tool_calls`, the older `function_call`, roles `tool` and `function`.

Source: https://platform.openai.com/docs/api-reference/chat. The form that most others imitate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from toolevals.grading.parsing.content import result_text, text_in
from toolevals.grading.parsing.json_calls import call_in, identifier_in
from toolevals.grading.parsing.measures import measures_in
from toolevals.grading.parsing.turns import Turn
from toolevals.grading.values import Call, Message


def recognises(item: dict[str, Any]) -> bool:
    """Tell whether an item can be nothing else."""
    return "role" in item and any(item.get(key) for key in ("tool_calls", "function_call", "tool_call_id"))


def accepts(item: dict[str, Any]) -> bool:
    """Tell whether an item can be read."""
    return isinstance(item.get("role"), str) and item["role"] != ""


def turns(items: Iterable[dict[str, Any]]) -> Iterator[Turn]:
    """Read messages. `is_error` on a tool's message, which several frameworks add, is kept."""
    for item in items:
        if item["role"] in {"tool", "function"}:
            yield _result(item)
        else:
            refusal = item.get("refusal")
            text = text_in(item.get("content"))
            said = refusal if text is None and isinstance(refusal, str) else text
            yield Turn(Message(item["role"], said, _calls(item), measures=measures_in(item)))


def _result(item: dict[str, Any]) -> Turn:
    name = item.get("name")
    message = Message(
        "tool",
        result_text(item.get("content")),
        call_id=identifier_in(item, "tool_call_id"),
        is_error=item.get("is_error") is True,
        measures=measures_in(item),
    )
    return Turn(message, name if isinstance(name, str) else None)


def _calls(item: dict[str, Any]) -> tuple[Call, ...]:
    given = item.get("tool_calls") or []
    items = given if isinstance(given, list) else [given]
    if older := item.get("function_call"):
        items = [*items, older]
    return tuple(call_in(call) for call in items)
