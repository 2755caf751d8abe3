"""Counts losses by kind, for people: a document of a thousand tools may lose the same key of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from toolevals.grading.values.json_pointers import parts_of
from toolevals.grading.values.problems import Problem


@dataclass(frozen=True, slots=True)
class LossCount:
    """The number of times that a part called `key` is lost in one way, and where first."""

    key: str
    message: str
    count: int
    first: str


def counted(losses: Iterable[Problem]) -> list[LossCount]:
    """Return the kinds of loss, the most frequent first, then in the document's order."""
    found: dict[tuple[str, str], list[str]] = {}
    for loss in losses:
        found.setdefault((_key(loss.pointer), loss.message), []).append(loss.pointer)
    counts = [LossCount(key, message, len(places), places[0]) for (key, message), places in found.items()]
    return sorted(counts, key=lambda each: -each.count)


def _key(pointer: str) -> str:
    """Return the last name in a pointer; positions in lists are no names."""
    return next((part for part in reversed(parts_of(pointer)) if not part.isdecimal()), "")
