"""Reads LlamaIndex's chat messages: `blocks` known by their `block_type`, ids of results in `additional_kwargs`.

Source: llama_index.core.base.llms.types. Before calls were blocks they stood in `additional_kwargs`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from toolevals.grading.reading.parsing.calls import calls_in
from toolevals.grading.reading.parsing.content import said
from toolevals.grading.reading.parsing.formats.transcript_format import (
    Item,
    Placed,
    TranscriptFormat,
    has_role,
    kind_of,
)
from toolevals.grading.reading.parsing.json_calls import call_of, identifier_in
from toolevals.grading.reading.parsing.losses import Account
from toolevals.grading.reading.parsing.turns import Turn
from toolevals.grading.values import Call, Message

_KEYS = frozenset({"role", "content", "blocks", "additional_kwargs"})
_CALL = frozenset({"block_type", "tool_call_id", "tool_name", "tool_kwargs"})
_BESIDE = frozenset({"tool_call_id", "tool_calls", "function_call", "name", "is_error", "refusal", "audio"})
_ROLES = {"model": "assistant", "chatbot": "assistant"}
_LOSSES = {
    "thinking": "reasoning", "image": "image", "audio": "audio", "video": "video", "document": "file",
    "citable": "citation", "citation": "citation", "cache": "cache point",
}  # fmt: skip


def _sign(item: Item) -> str | None:
    blocks = item.get("blocks")
    if "role" not in item or not isinstance(blocks, list):
        return None
    kind = next((kind for block in blocks if (kind := kind_of(block, "block_type"))), None)
    return f"a message has a block of `block_type` {kind}" if kind else None


def _turns(items: Iterable[Placed], account: Account) -> Iterator[Turn]:
    for pointer, item in items:
        account.rest(item, _KEYS, pointer)
        role = account.role(_ROLES.get(item["role"], item["role"]), pointer)
        given = item.get("additional_kwargs")
        beside = given if isinstance(given, dict) else {}
        account.rest(beside, _BESIDE, f"{pointer}/additional_kwargs")
        text, calls = _blocks(item, pointer, account)
        if role == "tool":
            name, failed = beside.get("name"), beside.get("is_error") is True
            message = Message("tool", text or "", call_id=identifier_in(beside, "tool_call_id"), is_error=failed)
            yield Turn(message, name if isinstance(name, str) else None)
        else:
            yield Turn(Message(role, text, calls or _older_calls(beside, pointer, account)))


def _older_calls(beside: Item, pointer: str, account: Account) -> tuple[Call, ...]:
    there = f"{pointer}/additional_kwargs"
    return (
        *calls_in(beside.get("tool_calls"), f"{there}/tool_calls", account),
        *calls_in(beside.get("function_call"), f"{there}/function_call", account),
    )


def _blocks(item: Item, pointer: str, account: Account) -> tuple[str | None, tuple[Call, ...]]:
    blocks: Any = item.get("blocks")
    if not isinstance(blocks, list):
        account.unknown(f"{pointer}/blocks", blocks, "blocks that are not a list")
        return said(item.get("content"), f"{pointer}/content", account), ()
    texts: list[str] = []
    calls: list[Call] = []
    for place, block in enumerate(blocks):
        kind, here = kind_of(block, "block_type"), f"{pointer}/blocks/{place}"
        if kind == "text" and isinstance(block.get("text"), str):
            account.rest(block, frozenset({"block_type", "text"}), here)
            texts.append(block["text"])
        elif kind == "tool_call":
            account.rest_of_call(block, _CALL, "tool_kwargs" in block, here)
            identifier = identifier_in(block, "tool_call_id")
            calls.append(call_of(block.get("tool_name"), block.get("tool_kwargs"), identifier, shown_as=block))
        elif kind in _LOSSES:
            account.lost(here, _LOSSES[kind], block)
        else:
            account.unknown_part(here, block)
    return "\n".join(texts) or None, tuple(calls)


LLAMA_INDEX = TranscriptFormat(
    name="llama_index",
    label="LlamaIndex",
    sign=_sign,
    accepts=has_role,
    item="a message with a role",
    turns=_turns,
    calls_at="blocks whose `block_type` is `tool_call`",
    keys=frozenset({"role", "blocks", "additional_kwargs", "tool_call", "text", *_CALL}),
    made_by="library: llama-index-core 0.14",
    losses=("reasoning", "image", "audio", "video", "file", "citation", "cache point"),
)
