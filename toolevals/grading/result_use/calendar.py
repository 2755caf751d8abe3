"""What is wrong with a date, a weekday or a time: the field that it gives almost rightly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from toolevals.grading.result_use.derivations import Derivations
from toolevals.grading.result_use.forms import TWELVE_HOURS
from toolevals.grading.result_use.lexicon import WEEKDAYS
from toolevals.grading.result_use.mentions import Mention
from toolevals.grading.result_use.naming import Suspicion, names, only_named
from toolevals.grading.result_use.neighbours import near_dates, near_times, weekday_of
from toolevals.grading.result_use.replies import Reply
from toolevals.grading.result_use.sources import Sources

_DAY_NAMES = tuple(sorted(WEEKDAYS, key=len, reverse=True))
_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(slots=True)
class Calendar:
    """Compares dates and times with those of results, and with what follows from these."""

    sources: Sources
    derivations: Derivations
    _last: int | None = None
    _known: set[int] = field(default_factory=set)
    _done: int = 0

    def date(self, reply: Reply, place: int, numbers: Sequence[float]) -> Suspicion | None:
        mention = reply.mentions[place]
        key = mention.keys[0]
        if not (isinstance(key, tuple) and len(key) == 3 and key[2] and len(mention.keys) == 1):
            return None
        for due, span in self.derivations.due():
            near = (due.month, due.day)
            if key[0] in {0, due.year} and near != key[1:] and _is_near_day(near, key[1:]) and span in _spans(numbers):
                position = self._last_date()
                if position is not None and not self.derivations.day(key, numbers):
                    return Suspicion("wrong_date", position, due.isoformat())
        for other in () if reply.is_relative(place) else near_dates(key):
            form = other if other[0] else (0, *other[1:])
            for position in self.sources.index.get(form, ()):
                value = self.sources.values[position]
                is_meant = self.sources.is_small or names(reply, place, value)
                if value.key not in reply.stated and is_meant and not self.derivations.day(key, numbers):
                    return Suspicion("wrong_date", position, value.written)
        if reply.is_relative(place) or reply.is_approximate(place) or self.derivations.day(key, numbers):
            return None
        position = only_named(
            self.sources,
            reply,
            reply.about(place),
            lambda value: value.kind == "date" and isinstance(value.key, tuple) and value.key[-1] > 0,
        )
        return None if position is None else Suspicion("wrong_date", position, self.sources.values[position].written)

    def _last_date(self) -> int | None:
        """Return the place of the newest date."""
        self._read()
        return self._last

    def _years(self) -> set[int]:
        """Return the years of the dates of results, and of today."""
        self._read()
        return self._known | ({self.sources.today[0]} if self.sources.today else set())

    def _read(self) -> None:
        for place in range(self._done, len(self.sources.values)):
            key = self.sources.values[place].key
            if isinstance(key, tuple) and len(key) == 3:
                self._last = place
                self._known |= {key[0]} - {0}
        self._done = len(self.sources.values)

    def time(self, reply: Reply, place: int, numbers: Sequence[float], told: Mapping[int, int]) -> Suspicion | None:
        mention = reply.mentions[place]
        key = mention.keys[0]
        if not (isinstance(key, tuple) and len(key) == 1) or self.derivations.seconds(reply.written(place)):
            return None
        if reply.is_approximate(place):
            return None
        has_zone = mention.zone is not None or reply.speaks_of_zone(place)
        if self.derivations.time(key[0], numbers, has_zone=has_zone):
            return None
        near = {minute % 720 for minute in near_times(key[0])}
        for minute, span, position in self.derivations.beside():
            if minute % 720 in near and span in numbers:
                return Suspicion("wrong_date", position, f"{minute // 60:02}:{minute % 60:02}")
        for minute in near:
            for position in self.sources.index.get((minute + TWELVE_HOURS,), ()):
                value = self.sources.values[position]
                if value.key not in reply.stated and (position in told or names(reply, place, value)):
                    return Suspicion("wrong_date", position, value.written)
        return None

    def weekday(self, reply: Reply, place: int, fields: Iterable[int]) -> Suspicion | None:
        """Return what is wrong with the weekday beside a date that the fields hold."""
        mention = reply.mentions[place]
        key = mention.keys[0]
        if mention.kind != "date" or not isinstance(key, tuple) or len(key) != 3:
            return None
        said = _weekday_beside(reply.text, mention)
        if said is None:
            return None
        real = []
        for position in fields:
            date = self.sources.values[position].key
            if isinstance(date, tuple) and len(date) == 3 and date[0] and date[1:] == key[1:]:
                real.append((weekday_of(*date), position))
        if not real and key[2]:
            years = {key[0]} if key[0] else self._years()
            place_of = self._last_date()
            real = [(weekday_of(year, key[1], key[2]), place_of) for year in years if place_of is not None]
        if not real or any(day == said for day, _ in real):
            return None
        day, position = real[-1]
        return Suspicion("wrong_date", position, _NAMES[day] if day is not None else "no date")

    def zone(self, mention: Mention, fields: Sequence[int]) -> Suspicion | None:
        """Return the field whose time a claim gives in another zone than it says."""
        zones = [self.sources.values[position].zone for position in fields]
        if mention.zone is None or mention.kind != "time" or None in zones or mention.zone in zones or not fields:
            return None
        value = self.sources.values[fields[0]]
        key, said = value.key, mention.keys[0]
        if not (isinstance(key, tuple) and isinstance(said, tuple) and value.zone is not None):
            return None
        truth = (key[0] - value.zone + mention.zone) % 1440
        if truth == said[0]:
            return None
        return Suspicion("wrong_date", fields[0], f"{truth // 60:02}:{truth % 60:02}")


def _is_near_day(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[1] == other[1] or (one[0] == other[0] and abs(one[1] - other[1]) in {1, 10})


def _spans(numbers: Sequence[float]) -> set[int]:
    return {round(number) for number in numbers} | {round(7 * number) for number in numbers}


def _weekday_beside(text: str, mention: Mention) -> int | None:
    """Return the weekday right before or right after a date."""
    before = (
        text[max(0, mention.start - 16) : mention.start]
        .lower()
        .rstrip(" ,.(")
        .removesuffix(" the")
        .removesuffix(" den")
    )
    word = before.rstrip(" ,")
    last = word[next((p + 1 for p in range(len(word) - 1, -1, -1) if not word[p].isalpha()), 0) :]
    if last in WEEKDAYS and len(last) > 2:
        return WEEKDAYS[last]
    after = text[mention.end : mention.end + 16].lower().lstrip(" ,(")
    for name in _DAY_NAMES:
        if len(name) > 2 and after.startswith(name) and not after[len(name) : len(name) + 1].isalpha():
            gap = text[mention.end : mention.end + 3]
            return WEEKDAYS[name] if "(" in gap or gap.startswith(", ") else None
    return None
