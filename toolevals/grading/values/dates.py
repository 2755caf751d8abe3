"""Reads dates and times in text, where they can be read in one way only.

Read are, in ASCII, whatever white space is at the ends:

- year first: `2025-04-03`, `2025/4/3`, `2025.04.03`, `20250403` (ISO 8601 calendar dates, and their common variants);
- the month in English words: `3 April 2025`, `3rd of Apr. 2025`, `3-Apr-2025`, `April 3, 2025`;
- numbers with the year last (`25/04/2025`, with `/`, `.` or `-`) where only one of day-first and month-first is a
  date, or both are the same one; else where a format says which is meant;
- each with a weekday before it, which has to be the right one (`Thu, 3 Apr 2025`);
- each with a time after it, parted by `T`, a space, a comma or `at`: `15:30`, `15:30:05`, `15:30:05.25`, `3:30 pm`;
  after `T` also `1530` and `153005`;
- each time with a zone: `Z`, `UTC`, `GMT`, `+02`, `+0200`, `+02:00`, `UTC+02:00`.

Not read: years of two digits, named zones, week and ordinal dates, 24:00, leap seconds, counts of seconds.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date

MAX_LENGTH = 64
# How a numeric date with the year last is to be read.
FORMATS = ("DD/MM/YYYY", "MM/DD/YYYY", "DD.MM.YYYY", "MM.DD.YYYY", "DD-MM-YYYY", "MM-DD-YYYY")

_SECOND = 1_000_000_000
_DAY = 86_400 * _SECOND
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_DATE = re.compile(
    rf"""(?:(?P<weekday>mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|fri(?:day)?|sat(?:urday)?
          |sun(?:day)?)\.?,?\ +)?
    (?:(?P<year>[0-9]{{4}})(?P<by>[-/.])(?P<month>[0-9]{{1,2}})(?P=by)(?P<day>[0-9]{{1,2}})
      |(?P<year_b>[0-9]{{4}})(?P<month_b>[0-9]{{2}})(?P<day_b>[0-9]{{2}})
      |(?P<first>[0-9]{{1,2}})(?P<mark>[-/.])(?P<second>[0-9]{{1,2}})(?P=mark)(?P<year_c>[0-9]{{4}})
      |(?P<day_d>[0-9]{{1,2}})(?:st|nd|rd|th)?(?:\ of)?(?:\ +|-)(?P<name_d>{_MONTH})\.?(?:,?\ +|-)(?P<year_d>[0-9]{{4}})
      |(?P<name_e>{_MONTH})\.?\ +(?P<day_e>[0-9]{{1,2}})(?:st|nd|rd|th)?,?\ +(?P<year_e>[0-9]{{4}})
    )(?![0-9])""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_HOUR, _SIXTY = "(?:[01]?[0-9]|2[0-3])", "[0-5][0-9]"
_TIME = re.compile(
    rf"""(?:(?:T|\ *,\ *|\ +at\ +|\ +)(?P<hour>{_HOUR}):(?P<minute>{_SIXTY})
          (?::(?P<second>{_SIXTY})(?:[.,](?P<part>[0-9]{{1,9}}))?)?
       |T(?P<hour_b>(?=[0-9]{{4}}){_HOUR})(?P<minute_b>{_SIXTY})(?P<second_b>{_SIXTY})?)
    (?:\ *(?P<half>[ap])\.?m\.?)?
    (?:\ *(?P<zone>Z|UTC|GMT|(?:UTC|GMT)?(?P<sign>[+-])(?P<zone_hours>(?=[0-9]{{2}}){_HOUR})
          (?::?(?P<zone_minutes>{_SIXTY}))?))?""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Moment:
    """A date and time as written: `wall` on the clock, in nanoseconds from the beginning of the year 1.

    A date alone is its midnight. `offset` is the zone's distance from UTC in minutes, None without a zone.
    """

    wall: int
    offset: int | None = None

    @property
    def instant(self) -> int | None:
        """The same in UTC; None without a zone."""
        return None if self.offset is None else self.wall - self.offset * 60 * _SECOND

    def admits(self, other: Moment) -> bool:
        """Tell whether the other is this one, written in whatever way.

        Where this one has a zone, the other has to have one too and to be the same instant. Where it has none, the
        clock has to show the same, in whatever zone.
        """
        return self.wall == other.wall if self.offset is None else self.instant == other.instant


def read_moment(text: str, formats: Collection[str] = ()) -> Moment | None:
    """Return the date, perhaps with its time, that text is; None where it is none, or could be two."""
    text = text.strip()
    if len(text) > MAX_LENGTH or not (found := _DATE.match(text)):
        return None
    day = _day(found, formats)
    if day is None or not _weekday_is_right(found["weekday"], day):
        return None
    midnight = day.toordinal() * _DAY
    if found.end() == len(text):
        return Moment(midnight)
    time = _TIME.fullmatch(text, found.end())
    seconds = _seconds(time) if time else None
    if time is None or seconds is None:
        return None
    return Moment(midnight + seconds * _SECOND + int((time["part"] or "").ljust(9, "0")), _offset(time))


def _day(match: re.Match[str], formats: Collection[str]) -> date | None:
    if match["year"]:
        return _date(match["year"], match["month"], match["day"])
    if match["year_b"]:
        return _date(match["year_b"], match["month_b"], match["day_b"])
    if match["year_c"]:
        return _numeric(match, formats)
    name = match["name_d"] or match["name_e"]
    month = _MONTHS.index(name[:3].lower()) + 1
    return _date(match["year_d"] or match["year_e"], month, match["day_d"] or match["day_e"])


def _numeric(match: re.Match[str], formats: Collection[str]) -> date | None:
    year, mark = match["year_c"], match["mark"]
    readings = {
        f"DD{mark}MM{mark}YYYY": _date(year, match["second"], match["first"]),
        f"MM{mark}DD{mark}YYYY": _date(year, match["first"], match["second"]),
    }
    meant = [each for form, each in readings.items() if form in formats] or list(readings.values())
    days = {each for each in meant if each is not None}
    return days.pop() if len(days) == 1 else None


def _date(year: str, month: str | int, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def _weekday_is_right(name: str | None, day: date) -> bool:
    return name is None or _WEEKDAYS[day.weekday()] == name[:3].lower()


def _seconds(match: re.Match[str]) -> int | None:
    """Return the seconds since midnight; None where no clock shows such a time."""
    hour = int(match["hour"] or match["hour_b"])
    if half := match["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half in "pP" else 0)
    minute, second = int(match["minute"] or match["minute_b"]), int(match["second"] or match["second_b"] or 0)
    return (hour * 60 + minute) * 60 + second


def _offset(match: re.Match[str]) -> int | None:
    if not match["sign"]:
        return 0 if match["zone"] else None
    minutes = int(match["zone_hours"]) * 60 + int(match["zone_minutes"] or 0)
    return -minutes if match["sign"] == "-" else minutes
