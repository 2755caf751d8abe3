"""Tell what is wrong with a date, a weekday or a time: the field that it gives almost rightly."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from toolevals.grading.layers.result_use.derivations import Derivations
from toolevals.grading.layers.result_use.payloads import written
from toolevals.grading.layers.result_use.replies import Reply
from toolevals.grading.layers.result_use.sources import TWELVE_HOURS, Sources, Suspicion, forms
from toolevals.grading.layers.result_use.values import Key, Mention
from toolevals.grading.layers.result_use.words import WEEKDAYS

_DAY_NAMES = "|".join(WEEKDAYS)
_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DAY_BEFORE = re.compile(rf"(?<!\w)({_DAY_NAMES})[ ,.(]*(?:(?:the|den) )?$", re.IGNORECASE)
_DAY_AFTER = re.compile(rf"(?: ?\(|, )({_DAY_NAMES})(?!\w)", re.IGNORECASE)


@dataclass(slots=True)
class Calendar:
    """Compares dates and times with those of results, and with what follows from these."""

    sources: Sources
    derivations: Derivations

    def moment(
        self, reply: Reply, claim_index: int, numbers: Sequence[float], told: Container[int]
    ) -> Suspicion | None:
        """Return what is wrong with a date or time that no field holds; `told` are the fields that replies gave."""
        key, *others = reply.mentions[claim_index].keys
        is_time = reply.mentions[claim_index].kind == "time"
        if others or not isinstance(key, tuple) or (is_time and reply.is_approximate(claim_index)):
            return None
        if self.derivations.moment(reply, claim_index, numbers):
            return None
        near = set(_near_times(key[0]) if len(key) == 1 else _near_dates(key))
        said = {round(number) for number in numbers}
        for reached, span, position in self.derivations.reached(is_time=is_time):
            if span in said and not near.isdisjoint(forms(reached, None)):
                truth = f"{self.sources.values[position].written}, which leads to {written(reached)}"
                return Suspicion("wrong_date", position, truth)
        if not is_time and reply.is_relative(claim_index):
            return None
        for position in (position for form in near for position in self.sources.index.get(form, ())):
            value = self.sources.values[position]
            is_meant = position in told if is_time else self.sources.is_small
            if value.key not in reply.stated and (is_meant or reply.names(claim_index, value)):
                return Suspicion("wrong_date", position, value.written)
        return None

    def weekday(self, reply: Reply, claim_index: int, fields: Sequence[int]) -> Suspicion | None:
        """Return what is wrong with the weekday next to a date that the fields hold."""
        mention = reply.mentions[claim_index]
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


def _weekday_of(year: int, month: int, day: int) -> int | None:
    """Return the day of the week, Monday 0; None for a date that does not exist."""
    try:
        return date(year, month, day).weekday()
    except ValueError:
        return None


def _near_dates(key: tuple[int, int, int]) -> Iterator[Key]:
    """Yield dates that are written almost like this one: another month or year, digits swapped, one off."""
    year, month, day = key
    for other in {*range(1, 13)} - {month} if day else ():
        yield year, other, day
    for near in {day - 1, day + 1, int(str(day)[::-1]), day - 10, day + 10} - {day} if day else ():
        yield year, month, near
    if year and day:
        yield year - 1, month, day
        yield year + 1, month, day


def _near_times(minute: int) -> Iterator[Key]:
    """Yield times that are written almost like this one: one digit of the minutes, or these two swapped."""
    hour, tens, ones = minute // 60 * 60, minute % 60 // 10, minute % 10
    near = {hour + 10 * ten + ones for ten in range(6)} | {hour + 10 * tens + one for one in range(10)}
    for other in (near | {hour + 10 * ones + tens} if ones < 6 else near) - {minute}:
        yield (other % 720 + TWELVE_HOURS,)
