"""Reads our own messages (`schemas/transcript.v1.json`) leniently: unknown keys are losses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolevals.grading.reading.parsing.calls import calls_in
from toolevals.grading.reading.parsing.content import result_said, said
from toolevals.grading.reading.parsing.extras import MEASURE_KEYS, measures_in, thought_in
from toolevals.grading.reading.parsing.formats.transcript_format import Item, Placed, TranscriptFormat, has_role
from toolevals.grading.reading.parsing.json_calls import identifier_in
from toolevals.grading.reading.parsing.losses import Account
from toolevals.grading.reading.parsing.turns import Turn
from toolevals.grading.values import Message

_KEYS = frozenset({"role", "content", "calls", "call_id", "is_error", "thought", *MEASURE_KEYS})


def _sign(item: Item) -> str | None:
    if "role" in item and "calls" in item:
        return "a message has `calls`"
    return "a message has `call_id`" if "role" in item and "call_id" in item and "type" not in item else None


def _turns(items: Iterable[Placed], account: Account) -> Iterator[Turn]:
    for pointer, item in items:
        content, there = item.get("content"), f"{pointer}/content"
        is_result = item["role"] == "tool" and content is not None
        account.rest(item, _KEYS, pointer)
        yield Turn(
            Message(
                account.role(item["role"], pointer),
                result_said(content, there, account) if is_result else said(content, there, account),
                calls_in(item.get("calls"), f"{pointer}/calls", account),
                identifier_in(item, "call_id"),
                item.get("is_error") is True,
                measures_in(item),
                thought=thought_in(item.get("thought")),
            )
        )


NATIVE = TranscriptFormat(
    name="native",
    label="toolevals",
    sign=_sign,
    accepts=has_role,
    item="a message with a role",
    turns=_turns,
    calls_at="`calls`",
    keys=_KEYS,
    made_by="schema `transcript.v1.json`",
)
