"""Works out Krippendorff's alpha: agreement of any number of raters, with missing labels, on any scale.

Source: K. Krippendorff, "Computing Krippendorff's alpha-reliability" (2011).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, combinations
from math import isfinite, lcm, sqrt
from typing import Literal

from toolevals.grading.metrics.agreement import Label, Row, paired
from toolevals.grading.metrics.estimates import Estimate
from toolevals.grading.metrics.rates import Interval, normal_quantile
from toolevals.grading.metrics.resampling import RESAMPLES, Resamples, bootstrap_interval

Scale = Literal["nominal", "ordinal", "interval"]
_ONE_LABEL = "all labels are the same, so that chance explains them"


def krippendorff_alpha(
    ratings: Mapping[Row, int],
    *,
    scale: Scale = "nominal",
    order: Sequence[Label] = (),
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Return alpha = 1 - D_o/D_e: the observed disagreement over the one expected by chance.

    `ratings` as in `agreement`. Of a unit with m >= 2 labels every ordered pair of two raters counts 1/(m - 1) in the
    coincidences o_ck; n_c = Σ_k o_ck, n = Σ n_c. D_o = Σ o_ck·δ²_ck/n, D_e = Σ n_c·n_k·δ²_ck/(n(n - 1)), with δ² for
    `nominal` 0 or 1, for `interval` (c - k)², for `ordinal` the squared difference of mid-ranks, (n_c/2 + those between
    + n_k/2)². `order` lists the ordinal labels from low to high; without it they are sorted. The interval is a
    percentile bootstrap over units; with `resamples=0`, for nominal labels of very many kinds, it is analytic (see
    `_linear_error`). Undefined where fewer than two labels are paired or all are the same. Raises ValueError on
    interval labels that are not numbers, on ordinal ones that cannot be ordered, and on analytic intervals of these.
    """
    if not resamples and scale != "nominal":
        raise ValueError("only nominal labels have an analytic interval")
    units = paired(ratings)
    if units and not resamples:
        return _analytic(units, confidence)
    places = {label: place for place, label in enumerate(_labels_in_order(units, scale, order))}
    if not units:
        return Estimate.undefined("no unit has two labels")
    numbers = [float(label) for label in places] if scale == "interval" else []  # type: ignore[arg-type]
    parts = lcm(*(len(labels) - 1 for labels in units))
    series = Resamples(resamples)
    table = _Coincidences(units, places, parts)
    counted = sum(units.values())
    value = _alpha(table.counts(), scale, numbers, parts)
    if value is None:
        return Estimate.undefined(_ONE_LABEL, counted)
    if counted < 2:
        return Estimate(value, None, counted)
    draws = (_alpha(drawn, scale, numbers, parts) for drawn in table.resampled(series))
    return Estimate(value, bootstrap_interval(draws, value, confidence), counted)


def _analytic(units: Mapping[tuple[Label, ...], int], confidence: float) -> Estimate:
    """Return nominal alpha with value ± z·error; `paired` units."""
    labels = sum(len(row) * count for row, count in units.items())
    margins: Counter[Label] = Counter()
    for row, count in units.items():
        for label in row:
            margins[label] += count
    spread = labels * labels - sum(margin * margin for margin in margins.values())
    counted = sum(units.values())
    if not spread:
        return Estimate.undefined(_ONE_LABEL, counted)
    observed = sum(_disagreement(row) * count for row, count in units.items())
    value = 1 - (labels - 1) * observed / spread
    if counted < 2:
        return Estimate(value, None, counted)
    half = normal_quantile(confidence) * _linear_error(units, margins, labels, observed, spread)
    return Estimate(value, Interval(max(min(-1.0, value), value - half), min(1.0, value + half)), counted)


def _linear_error(
    units: Mapping[tuple[Label, ...], int], margins: Mapping[Label, int], labels: int, observed: float, spread: int
) -> float:
    """Return the standard error of nominal alpha by linearization over units, which are taken as drawn at random.

    With A = Σ_u d_u (ordered pairs of a unit that disagree, over m_u - 1) and B = n² - Σ n_c², 1 - alpha is (n - 1)A/B.
    A unit adds m_u·A/B + (n - 1)·d_u/B - (n - 1)·A·2(n·m_u - Σ_c n_c·m_uc)/B²; the variance is that of the sum of
    these (K. L. Gwet, "Handbook of Inter-Rater Reliability", 2014, 5, does so for the coefficients of its kind).
    """
    total = square = 0.0
    for row, count in units.items():
        held = len(row)
        chance = 2 * (labels * held - sum(margins[label] for label in row)) / spread
        adds = (held * observed + (labels - 1) * (_disagreement(row) - observed * chance)) / spread
        total += count * adds
        square += count * adds * adds
    counted = sum(units.values())
    return sqrt(max(0.0, square - total * total / counted) * counted / (counted - 1))


def _disagreement(row: tuple[Label, ...]) -> float:
    """Return how many ordered pairs of a unit's labels disagree, over the number of its labels less one."""
    held = len(row)
    if held == 2:
        return 0.0 if row[0] == row[1] else 2.0
    return (held * held - sum(given * given for given in Counter(row).values())) / (held - 1)


# How often each label is paired, and each two different labels with each other (lower place first), both in parts.
_Counts = tuple[Sequence[int], Mapping[tuple[int, int], int]]


class _Coincidences:
    """The coincidences of the units, in whole parts of 1/`parts`, whatever each unit weighs."""

    def __init__(self, units: Mapping[tuple[Label, ...], int], places: Mapping[Label, int], parts: int) -> None:
        self._size = len(places)
        self._units = [
            (count, Counter(places[label] for label in labels), parts // (len(labels) - 1))
            for labels, count in sorted(
                units.items(), key=lambda item: (item[1], sorted(map(places.__getitem__, item[0])))
            )
        ]

    def counts(self) -> _Counts:
        """Return the coincidences of the units as they are."""
        return self._summed(count for count, _, _ in self._units)

    def resampled(self, series: Resamples) -> Iterable[_Counts]:
        """Yield the coincidences of each resample."""
        margins, pairs = self._summed(series.weights(count) for count, _, _ in self._units)
        drawn_margins = [series.unpack(margin) for margin in margins]
        drawn_pairs = {pair: series.unpack(total) for pair, total in pairs.items()}
        for place in range(series.size):
            yield [drawn[place] for drawn in drawn_margins], {pair: drawn[place] for pair, drawn in drawn_pairs.items()}

    def _summed(self, weights: Iterable[int]) -> _Counts:
        margins = [0] * self._size
        pairs: defaultdict[tuple[int, int], int] = defaultdict(int)
        for weight, (_, labels, part) in zip(weights, self._units, strict=True):
            raters = labels.total()
            for label, given in labels.items():
                margins[label] += weight * given * (raters - 1) * part
            for (one, given), (other, as_well) in combinations(sorted(labels.items()), 2):
                # Ordered pairs: both directions.
                pairs[one, other] += 2 * weight * given * as_well * part
        return margins, pairs


def _alpha(counts: _Counts, scale: Scale, numbers: Sequence[float], parts: int) -> float | None:
    margins, pairs = counts
    whole = sum(margins)
    # n in labels, not in parts, is what chance pairs without putting a label to itself.
    labels = whole / parts
    if scale == "nominal":
        observed: float = sum(pairs.values())
        expected: float = whole - sum(margin * margin for margin in margins) / whole if whole else 0.0
    else:
        values = numbers if scale == "interval" else _mid_ranks(margins)
        observed = sum(total * (values[one] - values[other]) ** 2 for (one, other), total in pairs.items())
        expected = _spread(margins, values, whole)
    if expected <= 0 or labels <= 1:
        return None
    return 1 - (labels - 1) * observed / (labels * expected)


def _spread(margins: Sequence[int], values: Sequence[float], whole: int) -> float:
    """Return Σ n_c·n_k·δ²_ck/n, which is twice the sum of squares about the mean."""
    if not whole:
        return 0.0
    mean = sum(margin * value for margin, value in zip(margins, values, strict=True)) / whole
    return 2 * sum(margin * (value - mean) ** 2 for margin, value in zip(margins, values, strict=True))


def _mid_ranks(margins: Sequence[int]) -> list[float]:
    return [through - margin / 2 for through, margin in zip(accumulate(margins), margins, strict=True)]


def _labels_in_order(units: Iterable[tuple[Label, ...]], scale: Scale, order: Sequence[Label]) -> list[Label]:
    seen = {label for labels in units for label in labels}
    if scale == "interval":
        return list(_numbers(seen))
    if scale == "ordinal" and not order:
        try:
            return sorted(seen)  # type: ignore[type-var]
        except TypeError:
            raise ValueError("the labels have no order of their own: give `order`") from None
    if scale == "ordinal":
        if missing := seen.difference(order):
            raise ValueError(f"the order lacks the label {next(iter(missing))!r}")
        return [label for label in order if label in seen]
    return sorted(seen, key=lambda label: (type(label).__name__, str(label)))


def _numbers(labels: Iterable[Label]) -> list[float]:
    numbers = []
    for label in labels:
        if not isinstance(label, int | float) or not isfinite(label):
            raise ValueError("labels on an interval scale are finite numbers")
        numbers.append(label)
    return sorted(numbers)
