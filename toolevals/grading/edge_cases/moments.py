"""Tells whether dates and times differ in their time zone."""

from __future__ import annotations

import re

from toolevals.grading.values.dates import MAX_LENGTH, Moment, read_moment

_DAY = 86_400 * 1_000_000_000
_DIGIT = re.compile(r"[0-9]")
# A zone by name, as ISO 9557 writes it in brackets, or by its abbreviation.
_NAMED = re.compile(r" ?\[[A-Za-z_/+-]{1,40}\]$| [A-Z][A-Za-z_]{1,30}/[A-Z][A-Za-z_/+-]{1,40}$| [A-Z]{3,4}$")


def has_time(text: str) -> bool:
    """Tell whether text is a time, alone or after a date."""
    found = _read(text)
    return found is not None and _shows_time(found[0], text)


def differ_in_zone(one: str, other: str) -> bool:
    """Tell whether two unequal texts are the same instant, or the same time on the clock, with other or no zones."""
    first = _read(one)
    second = None if first is None else _read(other)
    if first is None or second is None:
        return False
    (left, left_zone), (right, right_zone) = first, second
    if not (_shows_time(left, one) or _shows_time(right, other)):
        return False
    if left.offset == right.offset and left_zone == right_zone:
        return False
    same_instant = left.offset is not None and left.instant == right.instant
    return same_instant or left.wall == right.wall


def _shows_time(moment: Moment, text: str) -> bool:
    return moment.offset is not None or bool(moment.wall % _DAY) or ":" in text


def _read(text: str) -> tuple[Moment, str] | None:
    """Return the moment that text is, and the zone's name where it has one; a time alone is one of a day long ago."""
    if len(text) > 2 * MAX_LENGTH:
        return None
    text = text.strip()
    if text and "[" not in text and not _DIGIT.search(text):
        # Most texts are no times, and show it at once.
        return None
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
