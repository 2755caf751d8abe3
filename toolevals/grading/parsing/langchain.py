"""LangChain messages as dicts: `{"type": "ai", "tool_calls": [{"name", "args", "id"}]}`, plain or as they are dumped.

Source: langchain_core.messages (`messages_to_dict`, `dumpd`, `model_dump`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from toolevals.grading.parsing.content import result_text, text_in
from toolevals.grading.parsing.json_calls import call_in, identifier_in
from toolevals.grading.parsing.measures import measures_in
from toolevals.grading.parsing.turns import Turn
from toolevals.grading.values import Call, MalformedCall, Message, ToolCall

_ROLES = {
    "human": "user", "HumanMessage": "user", "HumanMessageChunk": "user",
    "ai": "assistant", "AIMessage": "assistant", "AIMessageChunk": "assistant",
    "tool": "tool", "ToolMessage": "tool", "function": "tool", "FunctionMessage": "tool",
    "system": "system", "SystemMessage": "system",
}  # fmt: skip


def recognises(item: dict[str, Any]) -> bool:
    """Tell whether an item can be nothing else."""
    return "role" not in item and accepts(item)


def accepts(item: dict[str, Any]) -> bool:
    """Tell whether an item can be read."""
    return _kind(item) in _ROLES and isinstance(_fields(item), dict)


def turns(items: Iterable[dict[str, Any]]) -> Iterator[Turn]:
    """Read messages. A tool's message with status "error" is an error; `invalid_tool_calls` are malformed."""
    for item in items:
        role, fields = _ROLES[_kind(item)], _fields(item)
        if role == "tool":
            name = fields.get("name")
            message = Message(
                "tool",
                result_text(fields.get("content")),
                call_id=identifier_in(fields, "tool_call_id"),
                is_error=fields.get("status") == "error",
                measures=measures_in(fields),
            )
            yield Turn(message, name if isinstance(name, str) else None)
        else:
            yield Turn(Message(role, text_in(fields.get("content")), _calls(fields), measures=measures_in(fields)))


def _calls(fields: dict[str, Any]) -> tuple[Call, ...]:
    good, bad = fields.get("tool_calls"), fields.get("invalid_tool_calls")
    return (
        *(call_in(item) for item in (good if isinstance(good, list) else ())),
        *(_invalid(item) for item in (bad if isinstance(bad, list) else ())),
    )


def _invalid(item: Any) -> MalformedCall:
    call = call_in(item)
    if isinstance(call, ToolCall):
        # We can read what LangChain could not; the agent's own loop did not run it.
        error = item.get("error")
        reason = error if isinstance(error, str) and error else "LangChain could not read the call"
        return MalformedCall(reason, name=call.name, id=call.id)
    return call


def _kind(item: dict[str, Any]) -> str:
    if "lc" in item and isinstance(path := item.get("id"), list) and path:
        return path[-1] if isinstance(path[-1], str) else ""
    kind = item.get("type")
    return kind if isinstance(kind, str) else ""


def _fields(item: dict[str, Any]) -> Any:
    return item.get("kwargs") if "lc" in item else item.get("data", item)
