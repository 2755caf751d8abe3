"""Compares precision, recall and F1 of one class in two runs on the same examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import fsum, sqrt

from toolevals.grading.metrics.rates import Interval, normal_quantile
from toolevals.grading.metrics.student import student_quantile

# Of one example in one run: called as expected, expected, called; in any unit that is the same for all examples.
ClassCounts = tuple[int, int, int]
# What stands above and below the line of a figure: of an example in the first run, and in the second.
_Parts = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class PairedFigure:
    """A figure before and after, 0..1, and after less before with its interval; None where a side is undefined."""

    before: float | None
    after: float | None
    difference: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class PairedClass:
    """The figures of one class."""

    precision: PairedFigure
    recall: PairedFigure
    f1: PairedFigure


def paired_class(counts: Mapping[tuple[ClassCounts, ClassCounts], int], *, confidence: float = 0.95) -> PairedClass:
    """Return the figures of a class from (before, after) -> how many examples have these counts.

    The interval of a difference is that of a difference of two ratios over the same examples, linearised (W. G.
    Cochran, "Sampling Techniques", 1977, 6), with Student's t of one degree of freedom less than examples. As in
    `difference_interval` two examples are added, one only right before and one only right after, so that few examples
    that all came out alike leave a width; of a single example it is -1..1. Raises ValueError unless 0 < confidence < 1.
    """
    normal_quantile(confidence)

    def figure(parts: Callable[[ClassCounts], tuple[int, int]]) -> PairedFigure:
        rows = [((*parts(before), *parts(after)), count) for (before, after), count in counts.items()]
        return _figure([(row, count) for row, count in rows if count and (row[1] or row[3])], confidence)

    return PairedClass(
        figure(lambda each: (each[0], each[2])),
        figure(lambda each: (each[0], each[1])),
        figure(lambda each: (2 * each[0], each[1] + each[2])),
    )


def _figure(rows: list[tuple[_Parts, int]], confidence: float) -> PairedFigure:
    sums = [sum(row[place] * count for row, count in rows) for place in range(4)]
    before, after = (sums[place] / sums[place + 1] if sums[place + 1] else None for place in (0, 2))
    if before is None or after is None:
        return PairedFigure(before, after, None, None)
    examples, difference = sum(count for _, count in rows), after - before
    interval = _interval(rows, sums, examples, confidence) if examples > 1 else Interval(-1.0, 1.0)
    held = Interval(min(interval.low, difference), max(interval.high, difference))
    return PairedFigure(before, after, difference, held)


def _interval(rows: list[tuple[_Parts, int]], sums: list[float], examples: int, confidence: float) -> Interval:
    # As large as the examples are on average, so that the unit of the counts does not matter.
    one, other = sums[1] / examples, sums[3] / examples
    added = [*rows, ((one, one, 0.0, other), 1), ((0.0, one, other, other), 1)]
    first, below, second, beneath = (fsum(row[place] * count for row, count in added) for place in range(4))
    ratios = first / below, second / beneath
    around = fsum(
        ((row[2] - ratios[1] * row[3]) / beneath - (row[0] - ratios[0] * row[1]) / below) ** 2 * count
        for row, count in added
    )
    half = student_quantile(examples - 1, confidence) * sqrt(around)
    middle = ratios[1] - ratios[0]
    return Interval(max(-1.0, middle - half), min(1.0, middle + half))
