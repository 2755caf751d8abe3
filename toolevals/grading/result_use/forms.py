"""The other keys under which somebody may look up or repeat a value."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolevals.grading.result_use.mentions import Mention
from toolevals.grading.result_use.values import Key

# Where times are kept in UTC: beyond the minutes of a day.
UTC_BASE = 10_000

_MEASURE = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)-?[a-z\"]{1,6}")


def weak_key(mention: Mention) -> str:
    """Return the key of a bare small number that somebody said: it supports no amount and nothing with a unit."""
    return f"#{mention.value:g}"


def spread(mention: Mention) -> Iterator[Key]:
    """Yield every key under which somebody may repeat a value."""
    for key in mention.keys:
        yield key
        if isinstance(key, tuple):
            yield from moment_forms(key, mention.zone)
    if mention.kind == "identifier":
        yield from digit_runs(str(mention.keys[0]))


def moment_forms(key: tuple[int, int, int] | tuple[int], zone: int | None) -> Iterator[Key]:
    """Yield a moment's other keys: without its year (-1 for a date that has none), its month, its year; in UTC."""
    if len(key) == 1:
        if zone is not None:
            yield (UTC_BASE + (key[0] - zone) % 1440,)
        return
    year, month, day = key
    if year:
        yield (year, month, 0)
        yield (year, 0, 0)
        if day:
            yield (0, month, day)
    else:
        yield (-1, month, day)


def digit_runs(identifier: str) -> Iterator[Key]:
    """Yield an identifier's last digits, whole and the last four, and the number of a measure."""
    digits = identifier[len(identifier.rstrip("0123456789")) :]
    if len(digits) >= 4:
        yield f"~{digits}"
        yield f"~{digits[-4:]}"
    # "30ml" is also said "30 ml".
    if identifier[:1].isdecimal() and (measure := _MEASURE.fullmatch(identifier)) is not None:
        yield float(measure[1])
