"""Whether words name a field."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

from toolevals.grading.result_use.payloads import FieldValue
from toolevals.grading.result_use.replies import Reply
from toolevals.grading.result_use.sources import Sources
from toolevals.grading.result_use.values import FindingKind


class Suspicion(NamedTuple):
    """What a claim seems to be, and the place of the field that it gives wrongly; `truth` is what it should say."""

    kind: FindingKind
    field: int
    truth: str


def any_alike(labels: Iterable[str], words: Iterable[str]) -> bool:
    """Whether one of the labels is one of the words, or begins it, or the other way round."""
    words = list(words)
    return any(alike(label, word) for label in labels for word in words)


@lru_cache(maxsize=65536)
def alike(one: str, other: str) -> bool:
    """Whether two stems are one word: equal, or the shorter begins the longer, or both begin with most of each."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if len(short) < 4:
        return False
    return long.startswith(short) or (len(short) > 5 and long.startswith(short[:-1]) and len(long) < len(short) + 3)


def names(reply: Reply, place: int, value: FieldValue) -> bool:
    """Whether the words beside a claim name the field."""
    return any_alike(value.labels, reply.about(place))


def only_named(sources: Sources, reply: Reply, about: frozenset[str], fits: Callable[[FieldValue], bool]) -> int | None:
    """Return the place of the one fitting value whose field's name stands in full beside a claim, if not stated."""
    named = [
        position
        for position in sources.labelled(about)
        if not (value := sources.values[position]).before
        and all(any_alike((label,), about) for label in value.labels)
        and fits(value)
    ]
    values = {sources.values[position].key for position in named}
    return named[-1] if len(values) == 1 and values.isdisjoint(reply.stated) else None
