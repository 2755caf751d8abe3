"""Works out intervals of everything that is read from a confusion matrix, from one set of resamples.

Macro F1 has no formula for its interval, and a page of three hundred tools wants three hundred of F1: all come from the
same resamples here, and so do the figures of two runs that are compared on the same examples.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from toolevals.grading.metrics.bootstrap import bootstrap_interval
from toolevals.grading.metrics.confusion import ConfusionMatrix
from toolevals.grading.metrics.estimates import Estimate
from toolevals.grading.metrics.rates import Interval
from toolevals.grading.metrics.resampling import RESAMPLES, Resamples

Cell = tuple[str, str]


@dataclass(frozen=True, slots=True)
class MatrixIntervals:
    """Intervals of each class's F1 and of the averages; None where the figure is undefined."""

    f1: Mapping[str, Interval | None]
    macro_f1: Interval | None
    micro_f1: Interval | None
    accuracy: Interval | None


def matrix_intervals(
    counts: Mapping[Cell, int], *, confidence: float = 0.95, resamples: int = RESAMPLES
) -> MatrixIntervals:
    """Return the intervals of a matrix whose cases are examples of one trial each, by (expected, actual) -> count."""
    return clustered_matrix_intervals(
        {(cell,): count for cell, count in counts.items()}, confidence=confidence, resamples=resamples
    )


def clustered_matrix_intervals(
    outcomes: Mapping[tuple[Cell, ...], int], *, confidence: float = 0.95, resamples: int = RESAMPLES
) -> MatrixIntervals:
    """Return the intervals of a matrix where examples have several trials or calls.

    `outcomes` says how many examples came out in this way: an example's (expected, actual) pairs, sorted so that
    like examples are counted together. `Counter(tuple(sorted(cells)) for cells in examples)` makes it.
    """
    counts: defaultdict[Cell, int] = defaultdict(int)
    for cells, count in outcomes.items():
        for cell in cells:
            counts[cell] += count
    matrix = ConfusionMatrix(counts)
    series = Resamples(resamples)
    sums = _Sums()
    for cells, count in sorted(outcomes.items(), key=lambda item: (item[1], item[0])):
        sums.add(cells, series.weights(count))
    draws = {name: sums.f1_draws(name, series) for name in matrix.classes}
    averaged = [each.name for each in matrix.averaged]
    return MatrixIntervals(
        f1={each.name: _interval(draws[each.name], each.f1, confidence) for each in matrix.per_class},
        macro_f1=_interval(_mean_draws([draws[name] for name in averaged]), matrix.macro_f1, confidence),
        micro_f1=_interval(sums.micro_draws(averaged, series), matrix.micro_f1, confidence),
        accuracy=_interval(sums.accuracy_draws(series), matrix.accuracy, confidence),
    )


def macro_f1_interval(
    counts: Mapping[Cell, int], *, confidence: float = 0.95, resamples: int = RESAMPLES
) -> Interval | None:
    """Return the interval of a matrix's macro F1. None where it has no cases."""
    return matrix_intervals(counts, confidence=confidence, resamples=resamples).macro_f1


def macro_f1_difference(
    outcomes: Mapping[tuple[tuple[Cell, ...], tuple[Cell, ...]], int],
    *,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Return macro F1 of a second run less that of a first one on the same examples, by the paired bootstrap.

    `outcomes` says how many examples came out in this way: an example's (expected, actual) pairs in the first run and
    in the second. Both runs are read from the same resamples (Davison and Hinkley, 1997).
    """
    series = Resamples(resamples)
    runs = (_Sums(), _Sums())
    counts: tuple[defaultdict[Cell, int], defaultdict[Cell, int]] = (defaultdict(int), defaultdict(int))
    for both, count in sorted(outcomes.items(), key=lambda item: (item[1], item[0])):
        weights = series.weights(count)
        for sums, seen, cells in zip(runs, counts, both, strict=True):
            sums.add(cells, weights)
            for cell in cells:
                seen[cell] += count
    first, second = (ConfusionMatrix(seen) for seen in counts)
    examples = sum(outcomes.values())
    if first.macro_f1 is None or second.macro_f1 is None:
        return Estimate.undefined("one of the runs has no cases", examples)
    draws = [
        _mean_draws([sums.f1_draws(each.name, series) for each in matrix.averaged])
        for sums, matrix in zip(runs, (first, second), strict=True)
    ]
    differences = (
        None if before is None or after is None else after - before for before, after in zip(*draws, strict=True)
    )
    value = second.macro_f1 - first.macro_f1
    return Estimate(value, _interval(differences, value, confidence) if examples > 1 else None, examples)


class _Sums:
    """Per class and resample: how often right, and how often expected plus how often called."""

    def __init__(self) -> None:
        self.correct: defaultdict[str, int] = defaultdict(int)
        self.either: defaultdict[str, int] = defaultdict(int)

    def add(self, cells: Iterable[Cell], weights: int) -> None:
        for expected, actual in cells:
            self.either[expected] += weights
            self.either[actual] += weights
            if expected == actual:
                self.correct[expected] += weights

    def f1_draws(self, name: str, series: Resamples) -> list[float | None]:
        return _ratios(2 * self.correct[name], self.either[name], series)

    def micro_draws(self, names: Iterable[str], series: Resamples) -> list[float | None]:
        names = list(names)
        correct, either = (sum(sums[name] for name in names) for sums in (self.correct, self.either))
        return _ratios(2 * correct, either, series)

    def accuracy_draws(self, series: Resamples) -> list[float | None]:
        return self.micro_draws(tuple(self.either), series)


def _ratios(parts: int, wholes: int, series: Resamples) -> list[float | None]:
    pairs = zip(series.unpack(parts), series.unpack(wholes), strict=True)
    return [part / whole if whole else None for part, whole in pairs]


def _mean_draws(draws: Sequence[Sequence[float | None]]) -> list[float | None]:
    """Return the mean over the classes in each resample, of those that occur in it."""
    means: list[float | None] = []
    for values in zip(*draws, strict=True):
        # Without classes that are missing, which is the rule, the sum needs no filter.
        seen = values if None not in values else [value for value in values if value is not None]
        means.append(sum(seen) / len(seen) if seen else None)
    return means


def _interval(draws: Iterable[float | None], value: float | None, confidence: float) -> Interval | None:
    return None if value is None else bootstrap_interval(draws, value, confidence)
