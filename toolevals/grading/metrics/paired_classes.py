"""Precision, recall and F1 of one class in two runs on the same examples, and what lies between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from toolevals.grading.metrics.bootstrap import bootstrap_interval
from toolevals.grading.metrics.rates import Interval
from toolevals.grading.metrics.resampling import RESAMPLES, Resamples

# Of one example in one run: called as expected, expected, called; in any unit that is the same for all examples.
ClassCounts = tuple[int, int, int]
Sums = tuple[int, ...]


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


def paired_class(
    counts: Mapping[tuple[ClassCounts, ClassCounts], int], *, confidence: float = 0.95, resamples: int = RESAMPLES
) -> PairedClass:
    """Return the figures of a class from (before, after) -> how many examples have these counts.

    Intervals are paired bootstraps: an example is drawn with what it was in both runs (see `bootstrap`). A resample in
    which a side is undefined is left out. Raises ValueError unless 0 < confidence < 1.
    """
    series = Resamples(resamples)
    packed, exact = [0] * 6, [0] * 6
    for pair, count in sorted(counts.items(), key=lambda item: (item[1], item[0])):
        if not any(six := (*pair[0], *pair[1])):
            continue
        weights = series.weights(count)
        for place, value in enumerate(six):
            if value:
                packed[place] += value * weights
                exact[place] += value * count
    draws = list(zip(*(series.unpack(each) for each in packed), strict=True))

    def figure(of: Callable[[Sums], tuple[float | None, float | None]]) -> PairedFigure:
        before, after = of(tuple(exact))
        if before is None or after is None:
            return PairedFigure(before, after, None, None)
        sides = map(of, draws)
        differences = (second - first for first, second in sides if first is not None and second is not None)
        return PairedFigure(before, after, after - before, bootstrap_interval(differences, after - before, confidence))

    return PairedClass(figure(_precision), figure(_recall), figure(_f1))


def _precision(six: Sums) -> tuple[float | None, float | None]:
    return (six[0] / six[2] if six[2] else None), (six[3] / six[5] if six[5] else None)


def _recall(six: Sums) -> tuple[float | None, float | None]:
    return (six[0] / six[1] if six[1] else None), (six[3] / six[4] if six[4] else None)


def _f1(six: Sums) -> tuple[float | None, float | None]:
    before, after = six[1] + six[2], six[4] + six[5]
    return (2 * six[0] / before if before else None), (2 * six[3] / after if after else None)
