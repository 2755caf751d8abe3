"""Dates and times that differ in their time zone."""

from __future__ import annotations

import re

from toolevals.grading.dates import MAX_LENGTH, Moment, read_moment

_DAY = 86_400 * 1_000_000_000
# A zone by name, as ISO 9557 writes it in brackets, or by its abbreviation.
_NAMED = re.compile(r" ?\[[A-Za-z_/+-]{1,40}\]$| [A-Z][A-Za-z_]{1,30}/[A-Z][A-Za-z_/+-]{1,40}$| [A-Z]{3,4}$")


def has_time(text: str) -> bool:
    """Tell whether text is a time, alone or after a date."""
    found = _read(text)
    return found is not None and (found[0].offset is not None or bool(found[0].wall % _DAY) or ":" in text)


def differ_in_zone(one: str, other: str) -> bool:
    """Tell whether two unequal texts are the same instant, or the same time on the clock, with other or no zones."""
    first, second = _read(one), _read(other)
    if first is None or second is None or not (has_time(one) or has_time(other)):
        return False
    (left, left_zone), (right, right_zone) = first, second
    if left.offset == right.offset and left_zone == right_zone:
        return False
    same_instant = left.offset is not None and left.instant == right.instant
    return same_instant or left.wall == right.wall


def _read(text: str) -> tuple[Moment, str] | None:
    """Return the moment that text is, and the zone's name where it has one; a time alone is one of a day long ago."""
    if len(text) > 2 * MAX_LENGTH:
        return None
    text = text.strip()
    moment = _moment(text)
    if moment is not None:
        return moment, ""
    named = _NAMED.search(text)
    if named is None:
        return None
    moment = _moment(text[: named.start()])
    return None if moment is None else (moment, named.group().strip(" []"))


def _moment(text: str) -> Moment | None:
    return read_moment(text) or read_moment(f"2000-01-01 {text}")
