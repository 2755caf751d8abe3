"""Reads Anthropic messages: content blocks `text`, `tool_use`, `tool_result`.

Source: https://docs.anthropic.com/en/api/messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from toolevals.grading.reading.parsing.content import result_said, said
from toolevals.grading.reading.parsing.extras import MEASURE_KEYS, measures_in
from toolevals.grading.reading.parsing.formats.transcript_format import (
    Item,
    Placed,
    TranscriptFormat,
    has_role,
    kind_of,
)
from toolevals.grading.reading.parsing.json_calls import call_of, identifier_in
from toolevals.grading.reading.parsing.losses import Account
from toolevals.grading.reading.parsing.provider_run import PROVIDER_RUN
from toolevals.grading.reading.parsing.turns import Speech, Turn
from toolevals.grading.values import Message

_KEYS = frozenset({
    "role", "content", "id", "type", "model", "stop_reason", "stop_sequence", "stop_details", "container",
    "context_management", "created_at", "timestamp", *MEASURE_KEYS,
})  # fmt: skip
_CALL = frozenset({"type", "id", "name", "input", "cache_control", "caller", "server_name", "index"})
_RESULT = frozenset({"type", "tool_use_id", "content", "is_error", "cache_control", "caller"})


def _sign(item: Item) -> str | None:
    content = item.get("content")
    if not isinstance(content, list) or "role" not in item:
        return None
    kind = next((kind for block in content if _is_own(kind := kind_of(block))), None)
    return f"a message has a block of type `{kind}`" if kind else None


def _is_own(kind: str) -> bool:
    return kind.endswith(("tool_use", "tool_result")) or kind in {"thinking", "redacted_thinking"}


def _turns(items: Iterable[Placed], account: Account) -> Iterator[Turn]:
    """Read messages. One that holds results becomes a tool's message for each, and others for what stands around."""
    for pointer, item in items:
        account.rest(item, _KEYS, pointer)
        content, role = item.get("content"), account.role(item["role"], pointer)
        if isinstance(content, list):
            made = list(_blocks(role, content, f"{pointer}/content", account))
            yield from _measured(made, item)
        else:
            yield Turn(Message(role, said(content, f"{pointer}/content", account), measures=measures_in(item)))


def _measured(made: list[Turn], item: Item) -> Iterator[Turn]:
    """Yield the turns of an item; what it took belongs to a message only where it is one message."""
    measures = measures_in(item) if len(made) == 1 else None
    for turn in made:
        yield turn if measures is None else Turn(replace(turn.message, measures=measures), turn.tool)


def _blocks(role: str, content: list[Any], pointer: str, account: Account) -> Iterator[Turn]:
    speech = Speech(role, account)
    for place, block in enumerate(content):
        kind, here = kind_of(block), f"{pointer}/{place}"
        if account.provider_run(block, here):
            continue
        if kind.endswith("tool_use"):
            account.rest_of_call(block, _CALL, "input" in block, here)
            speech.call(call_of(block.get("name"), block.get("input"), identifier_in(block, "id"), shown_as=block))
        elif kind.endswith("tool_result"):
            account.rest(block, _RESULT, here)
            yield from speech.answered(_result(block, here, account))
        else:
            speech.say(block, here)
    yield from speech.end()


def _result(block: Item, pointer: str, account: Account) -> Turn:
    content = block.get("content")
    text = result_said(content, f"{pointer}/content", account)
    identifier = identifier_in(block, "tool_use_id")
    return Turn(Message("tool", text, call_id=identifier, is_error=block.get("is_error") is True))


ANTHROPIC = TranscriptFormat(
    name="anthropic",
    label="Anthropic messages",
    sign=_sign,
    accepts=has_role,
    item="a message with a role",
    turns=_turns,
    calls_at="blocks of type `tool_use`",
    keys=frozenset({"role", "content", "type", "text", *_CALL, *_RESULT, "stop_reason"}),
    made_by="published schema",
    losses=("reasoning", "image", "file", "citation", "search result", PROVIDER_RUN),
)
