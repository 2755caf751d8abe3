"""Dates and times of day in text."""

from __future__ import annotations

import re

from toolevals.grading.result_use.lexicon import MONTHS, ZONES
from toolevals.grading.result_use.mentions import Mention
from toolevals.grading.result_use.values import Key

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_ZONE = "|".join(sorted(ZONES, key=len, reverse=True))
_MERIDIEM = r"(?:\s?([AaPp])(?:[Mm]\b|\.\s?[Mm]\.))"
_ISO = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})(?!\d)"
    r"(?:[T ](\d{2}):(\d{2})(?::\d{2}(?:[.,]\d{1,9})?)?\s?(Z\b|UTC\b|[+-]\d{2}:?\d{2})?)?"
)
_CLOCK = re.compile(rf"(\d{{1,2}}):(\d{{2}})(?::\d{{2}})?(?![\d:]){_MERIDIEM}?(?:\s?\(?({_ZONE})\b)?")
_HOUR = re.compile(rf"(\d{{1,2}}){_MERIDIEM}(?:\s?\(?({_ZONE})\b)?")
_NUMERIC = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?![\d./-]*\d)")
_MONTH_OF_YEAR = re.compile(r"(0?[1-9]|1[0-2])/((?:19|20)\d{2})(?!\d)")
_SHORT = re.compile(r"(\d{1,2})/(\d{1,2})(?![\d/.]*\d)")
_DAY_MONTH = re.compile(
    rf"(\d{{1,2}})(?:st|nd|rd|th|\.|º|er)?\s(?:of\s|de\s)?({_MONTH})\b\.?(?:,?\s(?:de\s|of\s)?((?:19|20)\d{{2}})\b)?",
    re.IGNORECASE,
)
_AFTER_MONTH = re.compile(
    r"(\d{1,2})(?:st|nd|rd|th)?(?!\w|:\d|[.,]\d)(?:(?:,\s?|\s)((?:19|20)\d{2})(?!\d|:\d|-\d))?|((?:19|20)\d{2})\b"
)
_LAST_DAY = re.compile(r"(?:\s?[-–]\s?|\s(?:and|or|to)\s)(\d{1,2})(?:st|nd|rd|th)?(?!\w|:\d|[.,]\d)")


def moment_at(text: str, start: int) -> Mention | None:
    """Return the date or time that begins with the digit at `start`, None where none does."""
    follower = text[start + 1 : start + 5]
    if ":" in follower[:2] and (found := _CLOCK.match(text, start)):
        return _clock(found, int(found[2]), found[3], found[4])
    if "-" in follower and (found := _ISO.match(text, start)):
        return _iso(found)
    if follower[:2].isdigit():
        return None
    if found := _HOUR.match(text, start):
        return _clock(found, 0, found[2], found[3])
    if found := _NUMERIC.match(text, start):
        return _date(start, found.end(), _numeric_keys(found))
    if found := _MONTH_OF_YEAR.match(text, start):
        return _date(start, found.end(), ((int(found[2]), int(found[1]), 0),))
    if found := _DAY_MONTH.match(text, start):
        return _date(start, found.end(), _keys(int(found[3] or 0), MONTHS[found[2].lower()], int(found[1])))
    return None


def short_date_at(text: str, start: int) -> Mention | None:
    """Return `5/27`, a day and a month in either order, None where there is none."""
    if (found := _SHORT.match(text, start)) is None:
        return None
    first, second = int(found[1]), int(found[2])
    return _date(start, found.end(), (*_keys(0, first, second), *_keys(0, second, first)))


def dates_after_month(text: str, start: int, name_start: int, month: int) -> list[Mention]:
    """Return the date of a month's name and the day or year at `start`; two for a range of days."""
    if (found := _AFTER_MONTH.match(text, start)) is None:
        return []
    if found[3]:
        return [Mention(name_start, found.end(), "date", ((int(found[3]), month, 0),))]
    first = _date(name_start, found.end(), _keys(int(found[2] or 0), month, int(found[1])))
    if first is None:
        return []
    if not found[2] and (last := _LAST_DAY.match(text, found.end())):
        second = _date(last.start(1), last.end(), _keys(0, month, int(last[1])))
        return [first] if second is None else [first, second]
    return [first]


def _iso(found: re.Match[str]) -> Mention | None:
    keys: tuple[Key, ...] = _keys(int(found[1]), int(found[2]), int(found[3]))
    if not keys:
        return None
    if found[4] is None:
        return Mention(found.start(), found.end(), "date", keys)
    minutes = int(found[4]) * 60 + int(found[5])
    return Mention(found.start(), found.end(), "date", (*keys, (minutes,)), zone=_offset(found[6]))


def _clock(found: re.Match[str], minute: int, meridiem: str | None, zone: str | None) -> Mention | None:
    hour = int(found[1])
    if hour > 24 or minute > 59 or (meridiem and not 1 <= hour <= 12):
        return None
    afternoon = 720 if meridiem in {"p", "P"} else 0
    minutes = (hour % 12 * 60 + minute + afternoon) if meridiem else hour * 60 + minute
    return Mention(found.start(), found.end(), "time", ((minutes % 1440,),), zone=ZONES[zone] if zone else None)


def _offset(written: str | None) -> int | None:
    if written is None:
        return None
    if written in {"Z", "UTC"}:
        return 0
    minutes = int(written[1:3]) * 60 + int(written[-2:])
    return -minutes if written[0] == "-" else minutes


def _numeric_keys(found: re.Match[str]) -> tuple[Key, ...]:
    first, second, year = int(found[1]), int(found[3]), int(found[4])
    if year < 100:
        year += 2000
    if found[2] == ".":
        return _keys(year, second, first)
    month_first, day_first = _keys(year, first, second), _keys(year, second, first)
    return month_first if month_first == day_first else (*month_first, *day_first)


def _date(start: int, end: int, keys: tuple[Key, ...]) -> Mention | None:
    return Mention(start, end, "date", keys) if keys else None


def _keys(year: int, month: int, day: int) -> tuple[tuple[int, int, int], ...]:
    return ((year, month, day),) if 1 <= month <= 12 and 1 <= day <= 31 else ()
