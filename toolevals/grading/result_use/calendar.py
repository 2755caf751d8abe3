"""What is wrong with a date, a weekday or a time: the field that it gives almost rightly."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from toolevals.grading.result_use.derivations import Derivations
from toolevals.grading.result_use.payloads import FieldValue
from toolevals.grading.result_use.replies import Reply
from toolevals.grading.result_use.sources import TWELVE_HOURS, Sources, Suspicion
from toolevals.grading.result_use.values import Mention
from toolevals.grading.result_use.words import WEEKDAYS

_DAY_NAMES = "|".join(WEEKDAYS)
_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DAY_BEFORE = re.compile(rf"(?<!\w)({_DAY_NAMES})[ ,.(]*(?:(?:the|den) )?$", re.IGNORECASE)
_DAY_AFTER = re.compile(rf"(?: ?\(|, )({_DAY_NAMES})(?!\w)", re.IGNORECASE)


@dataclass(slots=True)
class Calendar:
    """Compares dates and times with those of results, and with what follows from these."""

    sources: Sources
    derivations: Derivations

    def date(self, reply: Reply, place: int, numbers: Sequence[float]) -> Suspicion | None:
        """Return what is wrong with a date that no field holds."""
        key, *others = reply.mentions[place].keys
        if others or not isinstance(key, tuple) or len(key) != 3 or not key[2]:
            return None
        if self.derivations.day(key, numbers):
            return None
        said = {round(times * number) for number in numbers for times in (1, 7)}
        newest = self.sources.newest_date
        for due, span in self.derivations.due() if newest is not None else ():
            if key[0] in {0, due.year} and span in said and _is_near_day(due, key):
                return Suspicion("wrong_date", newest or 0, due.isoformat())
        if reply.is_relative(place):
            return None
        for year, month, day in near_dates(key):
            for position in self.sources.index.get((year, month, day), ()):
                value = self.sources.values[position]
                if value.key not in reply.stated and (self.sources.is_small or reply.names(place, value)):
                    return Suspicion("wrong_date", position, value.written)
        named = None if reply.is_approximate(place) else self.sources.only_named(reply, place, _is_day)
        return None if named is None else Suspicion("wrong_date", named, self.sources.values[named].written)

    def time(self, reply: Reply, place: int, numbers: Sequence[float], told: Container[int]) -> Suspicion | None:
        """Return what is wrong with a time that no field holds; `told` are the fields that earlier replies gave."""
        key = reply.mentions[place].keys[0]
        if not isinstance(key, tuple) or len(key) != 1 or reply.is_approximate(place):
            return None
        if self.derivations.is_length(reply.written(place)):
            return None
        if self.derivations.time(key[0], numbers, has_zone=reply.speaks_of_zone(place)):
            return None
        near = {minute % 720 for minute in near_times(key[0])}
        for minute, span, position in self.derivations.beside():
            if minute % 720 in near and span in numbers:
                return Suspicion("wrong_date", position, f"{minute // 60:02}:{minute % 60:02}")
        for minute in near:
            for position in self.sources.index.get((minute + TWELVE_HOURS,), ()):
                value = self.sources.values[position]
                if value.key not in reply.stated and (position in told or reply.names(place, value)):
                    return Suspicion("wrong_date", position, value.written)
        return None

    def weekday(self, reply: Reply, place: int, fields: Sequence[int]) -> Suspicion | None:
        """Return what is wrong with the weekday beside a date that the fields hold."""
        mention = reply.mentions[place]
        key, newest = mention.keys[0], self.sources.newest_date
        beside = _DAY_BEFORE.search(reply.text[max(0, mention.start - 24) : mention.start])
        beside = beside or _DAY_AFTER.match(reply.text, mention.end)
        if beside is None or newest is None or not isinstance(key, tuple) or len(key) != 3 or not key[2]:
            return None
        held = [(self.sources.values[position].key, position) for position in fields]
        real = [(found[0], position) for found, position in held if isinstance(found, tuple) and found[1:] == key[1:]]
        if not any(year for year, _ in real):
            real = [(year, newest) for year in ({key[0]} if key[0] else self.sources.years)]
        days = [(_weekday_of(year, *key[1:]), position) for year, position in real if year]
        if not days or any(day == WEEKDAYS[beside[1].lower()] for day, _ in days):
            return None
        day, position = days[-1]
        return Suspicion("wrong_date", position, _NAMES[day] if day is not None else "no date")

    def zone(self, mention: Mention, fields: Sequence[int]) -> Suspicion | None:
        """Return the field whose time a claim gives in another zone than it says."""
        zones = [self.sources.values[position].zone for position in fields]
        if mention.zone is None or mention.kind != "time" or None in zones or mention.zone in zones or not fields:
            return None
        value, said = self.sources.values[fields[0]], mention.keys[0]
        if not isinstance(value.key, tuple) or not isinstance(said, tuple) or value.zone is None:
            return None
        truth = (value.key[0] - value.zone + mention.zone) % 1440
        return None if truth == said[0] else Suspicion("wrong_date", fields[0], f"{truth // 60:02}:{truth % 60:02}")


def _is_day(value: FieldValue) -> bool:
    return value.kind == "date" and isinstance(value.key, tuple) and value.key[-1] > 0


def _is_near_day(due: date, key: tuple[int, int, int]) -> bool:
    """Whether a date is a month, a day or ten days off."""
    if due.day == key[2]:
        return due.month != key[1]
    return due.month == key[1] and abs(due.day - key[2]) in {1, 10}


def _weekday_of(year: int, month: int, day: int) -> int | None:
    """Return the day of the week, Monday 0; None for a date that does not exist."""
    try:
        return date(year, month, day).weekday()
    except ValueError:
        return None


def near_dates(key: tuple[int, int, int]) -> Iterator[tuple[int, int, int]]:
    """Yield dates that are written almost like this one: another month or year, digits swapped, one off."""
    year, month, day = key
    for other in range(1, 13):
        if other != month:
            yield year, other, day
    for near in (day - 1, day + 1, int(str(day)[::-1]), day - 10, day + 10):
        if 1 <= near <= 31 and near != day:
            yield year, month, near
    if year:
        yield year - 1, month, day
        yield year + 1, month, day


def near_times(minute: int) -> set[int]:
    """Return times that are written almost like this one: one digit of the minutes, or these two swapped."""
    hour, tens, ones = minute // 60 * 60, minute % 60 // 10, minute % 10
    near = {hour + 10 * ten + ones for ten in range(6)} | {hour + 10 * tens + one for one in range(10)}
    return (near | {hour + 10 * ones + tens} if ones < 6 else near) - {minute}
