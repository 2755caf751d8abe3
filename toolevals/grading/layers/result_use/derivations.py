"""Derives what no field holds as it stands: counts, sums, shares, conversions by a factor, dates and times."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import chain, combinations, permutations
from math import isfinite

from toolevals.grading.layers.result_use.payloads import FieldValue, field_name
from toolevals.grading.layers.result_use.replies import Reply
from toolevals.grading.layers.result_use.sources import ResultText, Sources
from toolevals.grading.layers.result_use.units import UNITS
from toolevals.grading.layers.result_use.values import Key, Mention

# The newest numbers that make sums, shares and the like; the newest dates and times that make durations.
MAX_OPERANDS = 60
MAX_MOMENTS = 40
# So few numbers hardly make a number of three digits by chance.
MAX_PLAIN = 16
# Rows of a column whose differences are taken.
MAX_ROWS = 12
MAX_COUNT = 1_000
# Values of a result that are counted and added up, and counts, sums and means that are kept.
MAX_VALUES = 4_000
MAX_FIGURES = 4_000
# Claims of a transcript that are derived; further ones stay open.
MAX_DERIVED = 400
_DAY = 86_400
_MONTH = 2_629_800
# Halves, doubles and the like that people say in words.
_FACTORS = (2.0, 0.5, 3.0)


@dataclass(slots=True)
class Derivations:
    """Looks for a way to derive a claim from fields, from what was said, and from the reply itself.

    `figures` are counts, sums, differences and means over rows of a result, with the rule, and `totals` lead from a sum
    to the place of its first number; they grow with the results. `instants` are minutes of the day in UTC.
    """

    sources: Sources
    figures: dict[float, str] = field(default_factory=dict)
    totals: dict[float, int] = field(default_factory=dict)
    fields: list[float] = field(default_factory=list)
    days: list[date] = field(default_factory=list)
    minutes: list[int] = field(default_factory=list)
    instants: list[int] = field(default_factory=list)
    _done: int = 0
    _derived: int = 0

    def number(self, mention: Mention, tolerance: float, said: Sequence[float], *, is_plain: bool = False) -> str:
        """Return the rule by which a number follows, empty where none does; `said` are the reply's numbers.

        `is_plain` says that nothing announces a sum, share or the like: two numbers then make a short number, or one of
        many, by chance.
        """
        if not self._is_ready():
            return "unknown"
        value = mention.value
        if mention.kind == "duration" and self._is_duration(value, mention.unit, tolerance):
            return "elapsed"
        for figure, rule in self.figures.items():
            if abs(figure - value) <= tolerance:
                return rule
        if self.sums_up(value, said):
            return "sum"
        sums = [figure for figure, rule in self.figures.items() if rule in {"sum", "mean"}][-20:]
        others = [number for number in said if number != value][-MAX_OPERANDS:]
        numbers = {*self.fields[-MAX_OPERANDS:], *self.sources.numbers, *others, *sums, *_FACTORS}
        operands = sorted(number for number in numbers if number and isfinite(number))
        if is_plain and (len(operands) > MAX_PLAIN or mention.digits < 3):
            return ""
        return _from_two(value, tolerance, operands, is_share=mention.kind == "percent")

    def total_at(self, number: float) -> int | None:
        """Return the place of the first of the numbers of which this one is the sum, None where it is of none."""
        self._catch_up()
        return self.totals.get(round(number, 6))

    @staticmethod
    def sums_up(value: float, said: Sequence[float]) -> bool:
        """Return whether a number is, to the hundredth, the sum of two or more that follow one another in the reply."""
        # Where each running total first stood; two places back at least, so that one number is no sum.
        places, total = {0: 0}, 0.0
        for place, number in enumerate((number for number in said[:MAX_OPERANDS] if number != value), 1):
            total += number
            if place - places.get(round((total - value) * 100), place) > 1:
                return True
            places.setdefault(round(total * 100), place)
        return False

    def moment(self, reply: Reply, claim_index: int, said: Sequence[float]) -> str:
        """Return the rule by which a date or time follows: some days or minutes from another one.

        Or the same day of a month where months or years are spoken of, or the same time in another zone.
        """
        key = reply.mentions[claim_index].keys[0]
        if not isinstance(key, tuple) or not self._is_ready():
            return ""
        if len(key) == 3:
            texts = (
                f"{leaf.path} {leaf.value}"
                for result in self.sources.results[-3:]
                for leaf in result.payload.leaves[:200]
            )
            is_periodic = key[2] in {day.day for day in self._days()} and reply.speaks_of_period(claim_index, texts)
            return "elapsed" if key[2] and (is_periodic or self._is_day(key, said)) else ""
        counts = {number for number in (*self.sources.numbers, *said) if number > 0}
        ways = {span / 60 for span, _ in self._spans() if span < _DAY} | counts | {60 * n for n in counts if n < 24}
        said_times = (key[0] for key in self.sources.said if isinstance(key, tuple) and len(key) == 1 and key[0] < 1440)
        has_zone = reply.speaks_of_zone(claim_index)
        for base in [*self.minutes[-MAX_MOMENTS:], *said_times][:MAX_MOMENTS]:
            gap = (key[0] - base) % 1440
            if (has_zone and gap % 30 == 0) or any(min(abs(gap - way), abs(1440 - gap - way)) < 0.6 for way in ways):
                return "elapsed"
        return ""

    def _is_day(self, key: tuple[int, int, int], said: Sequence[float]) -> bool:
        counts = {abs(round(number)) for number in (*self.fields[-MAX_OPERANDS:], *self.sources.numbers, *said)}
        offsets = {1, *(count for count in counts if count <= 400), *(7 * count for count in counts if count <= 52)}
        for base in self._days():
            years = (key[0],) if key[0] else (base.year - 1, base.year, base.year + 1)
            near = _dates((year, *key[1:]) for year in years)
            if any(abs((one - base).days) in offsets for one in near):
                return True
        return False

    def reached(self, *, is_time: bool) -> Iterator[tuple[Key, float, int]]:
        """Yield what lies a result's duration from a date or time, days, weeks or minutes, and the duration's field."""
        for span, position in self._spans():
            if is_time and span < _DAY:
                for base in self.minutes[-MAX_MOMENTS:]:
                    for minute in (base + span / 60, base - span / 60):
                        yield (round(minute) % 1440,), span / 60, position
            elif not is_time and span % _DAY == 0 and span < 400 * _DAY:
                for day in self._days():
                    for moved in (day + timedelta(seconds=span), day - timedelta(seconds=span)):
                        for unit in (_DAY, 7 * _DAY):
                            yield (moved.year, moved.month, moved.day), span / unit, position

    def _is_duration(self, value: float, unit: str, tolerance: float) -> bool:
        """Return whether a duration lies between two dates or times."""
        is_long = UNITS[unit].dimension != "time"
        factor = UNITS[unit].factor * (_MONTH if is_long else 1)
        slack = max(tolerance * factor, 0.03 * value * factor if is_long else 0)
        gaps = chain(
            (abs((one - other).days) * _DAY for one, other in combinations(self._days(), 2)),
            ((one - other) % 1440 * 60 for one, other in permutations(self.minutes[-MAX_MOMENTS:], 2)),
            ((one - other) % 1440 * 60 for one, other in permutations(self.instants[-MAX_MOMENTS:], 2)),
        )
        return any(abs(gap - value * factor) <= slack for gap in gaps)

    def _spans(self) -> list[tuple[float, int]]:
        """Return the durations of the newest results: seconds, and the field's place."""
        found: dict[float, int] = {}
        for result in self.sources.results[-3:]:
            for position in result.values[:200]:
                value = self.sources.values[position]
                unit = UNITS.get(value.measure.unit)
                if unit and unit.dimension == "time" and isinstance(value.key, int | float) and value.key > 0:
                    found.setdefault(value.key * unit.factor, position)
        return list(found.items())[:MAX_MOMENTS]

    def _days(self) -> list[date]:
        """Return the newest dates of results, and those that someone said."""
        year = self.sources.today[0] if self.sources.today else self.days[-1].year if self.days else 2000
        said = [key for key in self.sources.said if isinstance(key, tuple) and len(key) == 3 and key[2]][:MAX_MOMENTS]
        found = _dates((max(key[0] or year, 1), key[1], key[2]) for key in said)
        return list(dict.fromkeys(day for day in (*self.days[-MAX_MOMENTS:], *found) if 2 < day.year < 9998))

    def _is_ready(self) -> bool:
        """Read new results; return whether another claim may be derived."""
        self._catch_up()
        self._derived += 1
        return self._derived <= MAX_DERIVED

    def _catch_up(self) -> None:
        for result in self.sources.results[self._done :]:
            self._read(result)
        self._done = len(self.sources.results)

    def _read(self, result: ResultText) -> None:
        rows: dict[tuple[str, str], list[int]] = {}
        leaves = (leaf for leaf in result.payload.leaves[:MAX_VALUES] if isinstance(leaf.value, bool | str))
        words = Counter((field_name(leaf.path), leaf.value) for leaf in leaves)
        for position in result.values[:MAX_VALUES]:
            value = self.sources.values[position]
            key = value.key
            if isinstance(key, int | float):
                self.fields.append(value.number)
                for row in _rows_of(value):
                    rows.setdefault(row, []).append(position)
            elif isinstance(key, tuple) and len(key) == 3:
                self.days += _dates([key])
            elif isinstance(key, tuple):
                self.minutes.append(key[0])
                self.instants += [] if value.zone is None else [key[0] - value.zone]
        for count in (*result.payload.lists.values(), *words.values()):
            if count <= MAX_COUNT:
                self.figures.setdefault(float(count), "count")
        for positions in rows.values():
            if len(positions) > 1 and len(self.figures) < MAX_FIGURES:
                self._total(positions)

    def _total(self, positions: Sequence[int]) -> None:
        numbers = [self.sources.values[position].number for position in positions]
        total = round(sum(numbers), 6)
        self.totals.setdefault(total, positions[0])
        figures = {total: "sum", round(total / len(numbers), 6): "mean"}
        for one, other in permutations(numbers[:MAX_ROWS], 2):
            figures.setdefault(round(one - other, 6), "difference")
        for number, count in Counter(numbers).items():
            figures.setdefault(round(total - number, 6), "sum")
            if count > 1:
                figures.setdefault(float(count), "count")
        for figure, rule in figures.items():
            self.figures.setdefault(figure, rule)


def _rows_of(value: FieldValue) -> Iterator[tuple[str, str]]:
    """Yield the groups that a number is a part of: its column over the rows of a list, and its object or list."""
    is_element = _ends_in_digit(value.path)
    yield (value.container if is_element else value.container.rpartition("/")[0]), value.name
    if not is_element or _ends_in_digit(value.container):
        yield value.container, ""


def _ends_in_digit(path: str) -> bool:
    return path.rpartition("/")[2].isdigit()


def _dates(keys: Iterable[tuple[int, int, int]]) -> list[date]:
    found = []
    for key in keys:
        try:
            found.append(date(*key))
        except (ValueError, OverflowError):
            continue
    return found


def _from_two(value: float, tolerance: float, operands: Sequence[float], *, is_share: bool) -> str:
    """Return the rule by which a number follows from two others: sum, difference, product, ratio, share, change.

    Each is solved for the second number, which is then looked up.
    """
    margin = tolerance + abs(value) * 1e-9
    for one in operands:
        quotient, size = value / one, abs(one)
        ways = [
            ("sum", value - one, margin),
            ("difference", one - value, margin),
            ("product", quotient, margin / size),
            ("product", 100 * quotient, 100 * margin / size),
            ("product", 100 * (quotient - 1), 100 * margin / size),
            ("product", 100 * (1 - quotient), 100 * margin / size),
            ("ratio", value * one, min(margin * size, 0.02 * abs(value * one))),
        ]
        if is_share:
            share = value / 100
            ways += [("ratio", one * part, margin * size / 100) for part in (share, 1 + share, 1 - share)]
        for rule, wanted, slack in ways:
            place = bisect_left(operands, wanted - slack)
            if place < len(operands) and operands[place] <= wanted + slack:
                return rule
    return ""
