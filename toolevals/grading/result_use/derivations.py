"""Deriving what no field holds as it stands: counts, sums, shares, conversions by a factor, dates and times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from math import isfinite

from toolevals.grading.result_use.arithmetic import from_two, is_run_sum
from toolevals.grading.result_use.mentions import Mention
from toolevals.grading.result_use.neighbours import significant
from toolevals.grading.result_use.payloads import FieldValue, field_name
from toolevals.grading.result_use.sources import ResultText, Sources
from toolevals.grading.result_use.units import UNITS
from toolevals.grading.result_use.values import Key

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
# Durations of results from which times and dates follow.
MAX_SPANS = 40
# Claims of a transcript that are derived; further ones stay open.
MAX_DERIVED = 400
# Halves, doubles and the like that people say in words.
_FACTORS = (2.0, 0.5, 3.0)


@dataclass(slots=True)
class Derivations:
    """Looks for a way to derive a claim from fields, from what was said, and from the reply itself.

    `figures` are counts, sums and means over rows of a result, with the rule; they grow with the results.
    """

    sources: Sources
    figures: dict[float, str] = field(default_factory=dict)
    fields: list[float] = field(default_factory=list)
    days: list[date] = field(default_factory=list)
    minutes: list[int] = field(default_factory=list)
    spans: set[float] = field(default_factory=set)
    totals: dict[float, int] = field(default_factory=dict)
    _done: int = 0
    _derived: int = 0

    def number(self, mention: Mention, tolerance: float, said: Sequence[float], *, is_plain: bool = False) -> str:
        """Return the rule by which a number follows, empty where none does; `said` are the reply's numbers.

        `is_plain` says that nothing announces a sum, share or the like: two numbers then make a short number, or one of
        many, by chance.
        """
        self._extend()
        self._derived += 1
        if self._derived > MAX_DERIVED:
            return "unknown"
        value = mention.value
        if mention.kind == "duration" and (rule := self._duration(value, mention.unit, tolerance)):
            return rule
        for figure, rule in self.figures.items():
            if abs(figure - value) <= tolerance:
                return rule
        others = [number for number in said if number != value]
        if self.sums_up(value, said):
            return "sum"
        operands = self._operands(others)
        if is_plain and (len(operands) > MAX_PLAIN or significant(mention) < 3):
            return ""
        return from_two(value, tolerance, operands, is_share=mention.kind == "percent")

    @staticmethod
    def sums_up(value: float, said: Sequence[float]) -> bool:
        """Whether a number is the sum of numbers that follow one another in the reply."""
        return is_run_sum(value, [number for number in said[:MAX_OPERANDS] if number != value])

    def day(self, key: tuple[int, int, int], said: Sequence[float]) -> str:
        """Return the rule by which a date follows: some days, weeks, months or years from another one."""
        self._extend()
        self._derived += 1
        if not key[2] or self._derived > MAX_DERIVED:
            return ""
        counts = {round(number) for number in (*self.fields[-MAX_OPERANDS:], *self.sources.numbers, *said) if number}
        offsets = {1, *(n for n in counts if 0 < abs(n) <= 400), *(7 * n for n in counts if 0 < n <= 52)}
        for base in self._days():
            for offset in offsets:
                if _is_day(base, offset, key) or _is_day(base, -offset, key):
                    return "elapsed"
            if (base.month, base.day) == key[1:] or base.day == key[2]:
                return "elapsed"
        return ""

    def due(self) -> Iterator[tuple[date, int]]:
        """Yield the dates that lie a result's number of days or weeks after a result's or today's date, once each."""
        self._extend()
        spans = [
            round(value.key * UNITS[value.measure.unit].factor / 86400)
            for result in self.sources.results[-3:]
            for value in self.sources.values[result.values.start : result.values.stop][:200]
            if isinstance(value.key, int | float) and value.measure.unit in {"d", "wk"} and 0 < value.key < 400
        ]
        for base in self._days():
            for span in list(dict.fromkeys(spans))[:MAX_SPANS]:
                for sign in (1, -1):
                    moved = _moved(base, sign * span)
                    if moved is not None:
                        yield moved, span

    def time(self, minute: int, said: Sequence[float], *, has_zone: bool) -> str:
        """Return the rule by which a time follows: minutes or hours from another one, or the same in another zone."""
        self._extend()
        self._derived += 1
        if self._derived > MAX_DERIVED:
            return ""
        times = [*self.minutes[-MAX_MOMENTS:], *filter(None, map(_minute, self.sources.said))][:MAX_MOMENTS]
        spans = [span for _, span in self._spans()][:MAX_SPANS]
        counts = set(spans) | {number for number in (*self.sources.numbers, *said) if number > 0}
        for base in times:
            gap = (minute - base) % 1440
            if has_zone and gap % 30 == 0:
                return "elapsed"
            for part in counts:
                if any(
                    abs(way - part) < 0.6 or (part < 24 and abs(way - part * 60) < 0.6) for way in (gap, 1440 - gap)
                ):
                    return "elapsed"
        return ""

    def beside(self) -> Iterator[tuple[int, float, int]]:
        """Yield (minute of the day, minutes, their field's place) of what lies a result's minutes from its times."""
        self._extend()
        spans = list(self._spans())
        for base in self.minutes[-MAX_MOMENTS:]:
            for position, span in spans[:MAX_MOMENTS]:
                for sign in (1, -1):
                    yield round(base + sign * span) % 1440, span, position

    def _spans(self) -> Iterator[tuple[int, float]]:
        """Yield the durations of the newest results: the field's place, and minutes under a day."""
        for result in self.sources.results[-3:]:
            for position in result.values[:200]:
                value = self.sources.values[position]
                if value.measure.unit in {"min", "h", "s"} and isinstance(value.key, int | float):
                    span = value.key * UNITS[value.measure.unit].factor / 60
                    if 0 < span < 1440:
                        yield position, span

    def total_at(self, number: float) -> int | None:
        """Return the place of the first of the numbers of which this one is the sum, None where it is of none."""
        self._extend()
        return self.totals.get(round(number, 6))

    def seconds(self, text: str) -> str:
        """Return the rule by which `33:04` or `1:52:38` follows as a duration."""
        self._extend()
        parts = [int(part) for part in text.split(":") if part.isdecimal()][:3]
        if len(parts) < 2:
            return ""
        readings = {parts[0] * 60 + parts[1], parts[0] * 3600 + parts[1] * 60 + (parts[2] if len(parts) > 2 else 0)}
        for reading in readings:
            mention = Mention(0, 0, "duration", (reading,), "s")
            if any(True for _ in self.sources.fields_of(mention, 1.0)) or self._duration(reading, "s", 1.0):
                return "converted"
        return ""

    def _duration(self, value: float, unit: str, tolerance: float) -> str:
        factor = UNITS[unit].factor if UNITS[unit].dimension == "time" else UNITS[unit].factor * 2_629_800
        slack = max(tolerance * factor, 0.03 * value * factor if unit in {"mo", "yr"} else 0)
        if any(abs(span - value * factor) <= slack for span in self.spans):
            return "elapsed"
        days = self._days()
        for place, one in enumerate(days):
            for other in days[:place]:
                if abs(abs((one - other).days) * 86400 - value * factor) <= slack:
                    return "elapsed"
        times = self.minutes[-MAX_MOMENTS:]
        for one_time in times:
            for other_time in times:
                if abs((one_time - other_time) % 1440 * 60 - value * factor) <= slack:
                    return "elapsed"
        return ""

    def _days(self) -> list[date]:
        found = list(self.days[-MAX_MOMENTS:])
        for key in self.sources.said:
            if isinstance(key, tuple) and len(key) == 3 and key[2] and len(found) < 2 * MAX_MOMENTS:
                year = key[0] or (self.sources.today or (self.days[-1].year if self.days else 2000, 0, 0))[0]
                found += _dates([(max(year, 1), key[1], key[2])])
        return list(dict.fromkeys(found))

    def _operands(self, said: Sequence[float]) -> list[float]:
        sums = [figure for figure, rule in self.figures.items() if rule in {"sum", "mean"}][-20:]
        numbers = [*self.fields[-MAX_OPERANDS:], *self.sources.numbers, *said[-MAX_OPERANDS:], *sums, *_FACTORS]
        return sorted({number for number in numbers if number and isfinite(number)})

    def _extend(self) -> None:
        for result in self.sources.results[self._done :]:
            rows: dict[tuple[str, str], list[int]] = {}
            words: Counter[tuple[str, str]] = Counter()
            instants: list[int] = []
            for position in result.values[:MAX_VALUES]:
                value = self.sources.values[position]
                key = value.key
                if isinstance(key, int | float):
                    self.fields.append(self._number_at(position))
                    for row in _rows_of(value):
                        rows.setdefault(row, []).append(position)
                elif isinstance(key, str):
                    words[value.name, key] += 1
                elif len(key) == 3:
                    self.days += _dates([key])
                else:
                    self.minutes.append(key[0])
                    instants += [] if value.zone is None else [key[0] - value.zone]
            for one in instants[:MAX_MOMENTS]:
                self.spans.update((one - other) % 1440 * 60.0 for other in instants[:MAX_MOMENTS])
            self._count(result, words)
            for positions in rows.values():
                self._total(positions)
        self._done = len(self.sources.results)

    def _count(self, result: ResultText, words: Counter[tuple[str, str]]) -> None:
        flags = (leaf for leaf in result.payload.leaves[:MAX_VALUES] if isinstance(leaf.value, bool))
        words.update((field_name(leaf.path), str(leaf.value)) for leaf in flags)
        for count in (*result.payload.lists.values(), *words.values()):
            if count <= MAX_COUNT:
                self.figures.setdefault(float(count), "count")

    def _number_at(self, position: int) -> float:
        value = self.sources.values[position]
        return round(value.key * value.measure.scale, 6) if isinstance(value.key, int | float) else 0.0

    def _total(self, positions: Sequence[int]) -> None:
        numbers = [self._number_at(position) for position in positions]
        if len(numbers) > 1 and len(self.figures) < MAX_FIGURES:
            self.totals.setdefault(round(sum(numbers), 6), positions[0])
            total = round(sum(numbers), 6)
            self.figures.setdefault(total, "sum")
            self.figures.setdefault(round(total / len(numbers), 6), "mean")
            for number in numbers[:MAX_ROWS]:
                for other in numbers[:MAX_ROWS]:
                    self.figures.setdefault(round(number - other, 6), "difference")
            for number, count in Counter(numbers).items():
                if count > 1:
                    self.figures.setdefault(float(count), "count")
                self.figures.setdefault(round(total - number, 6), "sum")


def _rows_of(value: FieldValue) -> Iterator[tuple[str, str]]:
    """Yield the groups that a number is a part of: its column over the rows of a list, and its object or list."""
    is_element = _ends_in_digit(value.path)
    yield (value.container if is_element else value.container.rpartition("/")[0]), value.name
    if not is_element or _ends_in_digit(value.container):
        yield value.container, ""


def _minute(key: Key) -> int | None:
    return key[0] if isinstance(key, tuple) and len(key) == 1 and key[0] < 1440 else None


def _ends_in_digit(path: str) -> bool:
    return path[-1:].isdigit() and path.rpartition("/")[2].isdigit()


def _dates(keys: Iterable[tuple[int, int, int]]) -> list[date]:
    found = []
    for year, month, day in keys:
        try:
            found.append(date(year, month, day))
        except (ValueError, OverflowError):
            continue
    return found


def _moved(base: date, days: int) -> date | None:
    try:
        return base + timedelta(days=days)
    except OverflowError:
        return None


def _is_day(base: date, days: int, key: tuple[int, int, int]) -> bool:
    moved = _moved(base, days)
    return moved is not None and (moved.month, moved.day) == key[1:] and key[0] in {0, moved.year}
