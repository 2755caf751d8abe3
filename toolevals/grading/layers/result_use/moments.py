"""Reads dates and times of day in text."""

from __future__ import annotations

import re

from toolevals.grading.layers.result_use.values import Key, Mention
from toolevals.grading.layers.result_use.words import MONTHS, ZONES

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_MERIDIEM = r"(?:\s?([AaPp])(?:[Mm]\b|\.\s?[Mm]\.))"
_ZONE = rf"(?:\s?\(?({'|'.join(sorted(ZONES, key=len, reverse=True))})\b)?"
_ISO = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})(?!\d)"
    r"(?:[T ](\d{2}):(\d{2})(?::\d{2}(?:[.,]\d{1,9})?)?\s?(Z\b|UTC\b|[+-]\d{2}:?\d{2})?)?"
)
_CLOCK = re.compile(rf"(\d{{1,2}}):(\d{{2}})(?::\d{{2}})?(?![\d:]){_MERIDIEM}?{_ZONE}")
_HOUR = re.compile(rf"(\d{{1,2}})(){_MERIDIEM}{_ZONE}")
# Day and month in either order, with or without a year; or a month of a year.
_NUMERIC = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?![\d./-]*\d)|(0?[1-9]|1[0-2])/((?:19|20)\d{2})(?!\d)")
_SHORT = re.compile(r"(?<![$€£¥₹])(\d{1,2})/(\d{1,2})(?![\d/.]*\d)")
_DAY_MONTH = re.compile(
    rf"(\d{{1,2}})(?:st|nd|rd|th|\.|º|er)?\s(?:of\s|de\s)?({_MONTH})\b\.?(?:,?\s(?:de\s|of\s)?((?:19|20)\d{{2}})\b)?",
    re.IGNORECASE,
)
_AFTER_MONTH = re.compile(
    r"(\d{1,2})(?:st|nd|rd|th)?(?!\w|:\d|[.,]\d)(?:(?:,\s?|\s)((?:19|20)\d{2})(?!\d|:\d|-\d))?|((?:19|20)\d{2})\b"
)


def moment_at(text: str, start: int) -> Mention | None:
    """Return the date or time that begins with the digit at `start`, None where none does."""
    follower = text[start + 1 : start + 5]
    if ":" in follower[:2] and (found := _CLOCK.match(text, start)):
        return _clock(found)
    if "-" in follower and (found := _ISO.match(text, start)):
        return _iso(found)
    if follower[:2].isdigit():
        return None
    if found := _HOUR.match(text, start):
        return _clock(found)
    if found := _NUMERIC.match(text, start):
        if found[6]:
            return _date(start, found.end(), ((int(found[6]), int(found[5]), 0),))
        first, second, year = int(found[1]), int(found[3]), int(found[4]) + 2000 * (len(found[4]) == 2)
        return _date(start, found.end(), _either_order(year, first, second, is_day_first=found[2] == "."))
    if found := _DAY_MONTH.match(text, start):
        return _date(start, found.end(), _keys(int(found[3] or 0), MONTHS[found[2].lower()], int(found[1])))
    found = _SHORT.match(text, start)
    return _date(start, found.end(), _either_order(0, int(found[1]), int(found[2]))) if found else None


def date_after_month(text: str, start: int, name_start: int, month: int) -> Mention | None:
    """Return the date of a month's name and the day or year at `start`."""
    found = _AFTER_MONTH.match(text, start)
    if found is None or found[3]:
        return _date(name_start, found.end(), ((int(found[3]), month, 0),)) if found else None
    return _date(name_start, found.end(), _keys(int(found[2] or 0), month, int(found[1])))


def _either_order(year: int, first: int, second: int, *, is_day_first: bool = False) -> tuple[Key, ...]:
    """Return the dates that two numbers can be, the month first unless it is said to be second."""
    orders = [] if is_day_first else [*_keys(year, first, second)]
    return tuple(dict.fromkeys((*orders, *_keys(year, second, first))))


def _iso(match: re.Match[str]) -> Mention | None:
    keys: tuple[Key, ...] = _keys(int(match[1]), int(match[2]), int(match[3]))
    if not keys or match[4] is None:
        return _date(match.start(), match.end(), keys)
    zone = None
    if written := match[6]:
        zone = 0 if written in {"Z", "UTC"} else int(written[:3]) * 60 + int(written[0] + written[-2:])
    return Mention(match.start(), match.end(), "date", (*keys, (int(match[4]) * 60 + int(match[5]),)), zone=zone)


def _clock(match: re.Match[str]) -> Mention | None:
    hour, minute, meridiem, zone = int(match[1]), int(match[2] or 0), match[3], match[4]
    if hour > 24 or minute > 59 or (meridiem and not 1 <= hour <= 12):
        return None
    if meridiem:
        hour = hour % 12 + 12 * (meridiem in "pP")
    return Mention(
        match.start(), match.end(), "time", ((hour % 24 * 60 + minute,),), zone=ZONES[zone] if zone else None
    )


def _date(start: int, end: int, keys: tuple[Key, ...]) -> Mention | None:
    return Mention(start, end, "date", keys) if keys else None


def _keys(year: int, month: int, day: int) -> tuple[tuple[int, int, int], ...]:
    return ((year, month, day),) if 1 <= month <= 12 and 1 <= day <= 31 else ()
