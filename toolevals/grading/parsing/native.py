"""Our own messages (`schemas/transcript.v1.json`), read leniently: unknown keys are left aside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from toolevals.grading.parsing.content import result_text, text_in
from toolevals.grading.parsing.json_calls import call_in, identifier_in
from toolevals.grading.parsing.measures import measures_in
from toolevals.grading.parsing.turns import Turn
from toolevals.grading.values import Message


def recognises(item: dict[str, Any]) -> bool:
    """Tell whether an item can be nothing else."""
    return "role" in item and ("calls" in item or ("call_id" in item and "type" not in item))


def accepts(item: dict[str, Any]) -> bool:
    """Tell whether an item can be read."""
    return isinstance(item.get("role"), str) and item["role"] != ""


def turns(items: Iterable[dict[str, Any]]) -> Iterator[Turn]:
    """Read messages."""
    for item in items:
        calls = item.get("calls")
        content = item.get("content")
        yield Turn(
            Message(
                item["role"],
                result_text(content) if item["role"] == "tool" and content is not None else text_in(content),
                tuple(call_in(call) for call in calls) if isinstance(calls, list) else (),
                identifier_in(item, "call_id"),
                item.get("is_error") is True,
                measures_in(item),
            )
        )
