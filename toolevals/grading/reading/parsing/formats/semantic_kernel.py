"""Reads Semantic Kernel's chat history (`ChatHistory.serialize()` of Python): items known by their `content_type`.

Source: semantic_kernel.contents. A function's name is `PLUGIN-FUNCTION` where it has a plugin.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolevals.grading.reading.parsing.content import result_said, said
from toolevals.grading.reading.parsing.formats.transcript_format import (
    Item,
    Placed,
    TranscriptFormat,
    has_role,
    kind_of,
)
from toolevals.grading.reading.parsing.json_calls import call_of, identifier_in
from toolevals.grading.reading.parsing.losses import Account
from toolevals.grading.reading.parsing.turns import Speech, Turn
from toolevals.grading.values import Message

_ABOUT = frozenset({"content_type", "metadata", "inner_content", "ai_model_id", "encoding", "index"})
_KEYS = _ABOUT | {"role", "items", "content", "name", "finish_reason", "status"}
_CALL = _ABOUT | {"id", "call_id", "name", "function_name", "plugin_name", "arguments"}
_RESULT = _ABOUT | {"id", "call_id", "name", "function_name", "plugin_name", "result"}
_LOSSES = {
    "reasoning": "reasoning", "image": "image", "audio": "audio", "binary": "file", "annotation": "citation",
    "file_reference": "file", "streaming_annotation": "citation", "streaming_file_reference": "file",
}  # fmt: skip


def _sign(item: Item) -> str | None:
    if "role" not in item:
        return None
    if item.get("content_type") == "message":
        return "a message is of `content_type` message"
    items = item.get("items")
    found = isinstance(items, list) and any(kind_of(part, "content_type") for part in items)
    return "an item has a `content_type`" if found else None


def _turns(items: Iterable[Placed], account: Account) -> Iterator[Turn]:
    for pointer, item in items:
        account.rest(item, _KEYS, pointer)
        speech = Speech(account.role(item["role"], pointer), account)
        parts = item.get("items")
        if not isinstance(parts, list):
            account.unknown(f"{pointer}/items", parts, "items that are not a list")
            parts = []
        if not parts and (text := said(item.get("content"), f"{pointer}/content", account)) is not None:
            speech.text(text)
        for place, part in enumerate(parts):
            kind, here = kind_of(part, "content_type"), f"{pointer}/items/{place}"
            if kind == "text" and isinstance(part.get("text"), str):
                account.rest(part, _ABOUT | {"text"}, here)
                speech.text(part["text"])
            elif kind == "function_call":
                account.rest_of_call(part, _CALL, "arguments" in part, here)
                identifier = identifier_in(part, "call_id", "id")
                speech.call(call_of(_name(part), part.get("arguments"), identifier, shown_as=part))
            elif kind == "function_result":
                account.rest(part, _RESULT, here)
                text = result_said(part.get("result"), f"{here}/result", account)
                yield from speech.answered(
                    Turn(Message("tool", text, call_id=identifier_in(part, "call_id", "id")), _name(part))
                )
            elif kind in _LOSSES:
                account.lost(here, _LOSSES[kind], part)
            else:
                account.unknown_part(here, part)
        yield from speech.end()


def _name(part: Item) -> str | None:
    """Return the function's name as the model was offered it."""
    plugin, function, name = part.get("plugin_name"), part.get("function_name"), part.get("name")
    if isinstance(name, str) and name:
        return name
    if isinstance(plugin, str) and plugin and isinstance(function, str):
        return f"{plugin}-{function}"
    return function if isinstance(function, str) else None


SEMANTIC_KERNEL = TranscriptFormat(
    name="semantic_kernel",
    label="Semantic Kernel",
    sign=_sign,
    accepts=has_role,
    item="a message with a role",
    turns=_turns,
    calls_at="items whose `content_type` is `function_call`",
    keys=frozenset({"role", "items", "content_type", "function_call", "function_result", "result", *_CALL}),
    made_by="library: semantic-kernel 1.45",
    losses=("reasoning", "image", "audio", "file", "citation"),
)
