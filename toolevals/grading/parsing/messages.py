"""Chat messages, in OpenAI's form and in ours, as messages of a transcript."""

from __future__ import annotations

from typing import Any

from toolevals.grading.parsing.json_calls import call_in
from toolevals.grading.values import Call, Message


def message_in(document: dict[str, Any]) -> Message:
    """Read one message with a role. Calls that cannot be read are MalformedCalls; unknown keys are left aside."""
    identifier = document.get("tool_call_id", document.get("call_id"))
    return Message(
        role="tool" if document["role"] == "function" else str(document["role"]),
        content=_text(document.get("content")),
        calls=_calls(document),
        call_id=identifier if isinstance(identifier, str) else None,
        is_error=document.get("is_error") is True,
    )


def _calls(document: dict[str, Any]) -> tuple[Call, ...]:
    items = document.get("tool_calls") or document.get("calls") or []
    if isinstance(older := document.get("function_call"), dict):
        items = [*items, older] if isinstance(items, list) else [older]
    return tuple(call_in(item) for item in items) if isinstance(items, list) else (call_in(items),)


def _text(content: Any) -> str | None:
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "\n".join(part for part in parts if isinstance(part, str)) or None
    return content if isinstance(content, str) else None
