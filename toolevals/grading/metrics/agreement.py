"""Work out how far raters agree beyond chance, on labels without an order.

Every figure takes `ratings`: how many units were labelled in this way, by the tuple of their labels, one place a rater,
None where a rater gave none. A confusion matrix's counts are such ratings of two raters; `Counter(rows)` makes them of
rows. Units with fewer than two labels say nothing about agreement and are left out of it.

Works out Krippendorff's alpha: agreement of any number of raters, with missing labels, on any scale.

Source: K. Krippendorff, "Computing Krippendorff's alpha-reliability" (2011).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import accumulate, combinations
from math import isfinite, lcm, sqrt
from typing import Literal, TypeVar

from toolevals.grading.metrics.clustered import ExampleSums
from toolevals.grading.metrics.means import mean_interval
from toolevals.grading.metrics.rates import Estimate, Interval, normal_quantile, student_quantile, wilson
from toolevals.grading.metrics.resampling import RESAMPLES, Resamples, bootstrap_interval

Label = Hashable
Row = TypeVar("Row", bound=tuple[Label, ...])
_Rows = Mapping[tuple[Label, ...], int]

_TOO_FEW = "no unit has two labels"
_ONE_LABEL = "all labels are the same, so chance explains them"


def percent_agreement(ratings: Mapping[Row, int], *, confidence: float = 0.95) -> Estimate:
    """Return the mean over units of the share of pairs of raters that gave one label.

    Of a unit with r labels, r_q of them q, it is Σ r_q(r_q - 1)/(r(r - 1)). The interval is Wilson's where every unit
    agrees or does not (two labels each), else `mean_interval`'s.
    """
    shares: Counter[float] = Counter()
    for labels, count in paired(ratings).items():
        shares[_agreement_of(labels)] += count
    units = shares.total()
    if not units:
        return Estimate.undefined(_TOO_FEW)
    value = sum(share * count for share, count in shares.items()) / units
    if shares.keys() <= {0.0, 1.0}:
        return Estimate(value, wilson(shares[1.0], units, confidence), units)
    return Estimate(value, mean_interval(shares, confidence=confidence), units)


def cohen_kappa(ratings: Mapping[Row, int], *, confidence: float = 0.95) -> Estimate:
    """Return Cohen's kappa of two raters: (p_o - p_e)/(1 - p_e), p_e = Σ p_k.·p_.k over the labels.

    Source: J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20
    (1960). The interval is analytic, value ± z·√v, with the large-sample variance of J. L. Fleiss, J. Cohen and B. S.
    Everitt, "Large sample standard errors of kappa and weighted kappa", Psychological Bulletin 72 (1969). Undefined
    where both raters gave one and the same label throughout. Raises ValueError where a unit has not two places.
    """
    _require_two(ratings)
    pairs = paired(ratings)
    units = pairs.total()
    if not units:
        return Estimate.undefined(_TOO_FEW)
    found = _kappa(pairs, units)
    if found is None:
        return Estimate.undefined(_ONE_LABEL, units)
    kappa, error = found
    return Estimate(kappa, _around(kappa, error, confidence), units)


def clustered_kappa(
    ratings: Mapping[Row, int], agreed: ExampleSums | None = None, *, confidence: float = 0.95
) -> Estimate:
    """Return Cohen's kappa of two raters who passed or failed units, with an interval that is honest for few examples.

    `agreed` are the sums over the examples of the units on which both agree, where examples have several units; else
    each unit is an example. As in `clustered_interval` the counts are divided by the design effect of agreement, t²/4
    units are added to each of the four cells, and t is Student's quantile of one degree of freedom less than examples.
    Around the kappa of that table stands ± t·√v, v as in `cohen_kappa`; the interval holds the kappa of the counts and
    is never of zero width. With fewer than two examples it is -1..1. Raises ValueError where a unit has not two places,
    where there are more than two labels, and where `agreed` contradicts the ratings.
    """
    plain = cohen_kappa(ratings, confidence=confidence)
    if plain.value is None:
        return plain
    pairs = paired(ratings)
    labels = dict.fromkeys(label for pair in pairs for label in pair)
    if len(labels) > 2:
        raise ValueError("each unit passes or fails; use cohen_kappa for more labels")
    same = sum(count for (one, other), count in pairs.items() if one == other)
    sums = agreed or ExampleSums.single(same, plain.count)
    if (sums.passed, sums.trials) != (same, plain.count):
        raise ValueError("the sums over the examples contradict the ratings")
    degrees = sums.degrees
    if degrees < 1:
        return Estimate(plain.value, Interval(-1.0, 1.0), plain.count)
    t = student_quantile(degrees, confidence)
    cells: dict[tuple[Label, ...], float] = {
        (one, other): pairs[one, other] / sums.design_effect + t * t / 4 for one in labels for other in labels
    }
    units = sum(cells.values())
    found = _kappa(cells, units)
    assert found is not None  # no cell is empty
    middle, half = found[0], t * found[1]
    interval = Interval(max(-1.0, min(plain.value, middle - half)), min(1.0, max(plain.value, middle + half)))
    return Estimate(plain.value, interval, plain.count)


def mean_cohen_kappa(pairs: Iterable[Mapping[Row, int]], *, confidence: float = 0.95) -> Estimate:
    """Return the mean of Cohen's kappas of several pairs of raters, each weighted by its units.

    It is for raters of whom not every two labelled the same units, after R. J. Light, "Measures of response agreement
    for qualitative data", Psychological Bulletin 76 (1971), who averages over all pairs of the same units. The interval
    takes the pairs as independent: value ± z·√(Σ w²v), w a pair's share of the units, v as in `cohen_kappa`. Pairs
    whose kappa is undefined are left out; `count` says how many units remain. Raises ValueError as `cohen_kappa` does.
    """
    found: list[tuple[int, float, float]] = []
    seen = 0
    for ratings in pairs:
        _require_two(ratings)
        counts = paired(ratings)
        units = counts.total()
        seen += units
        if units and (one := _kappa(counts, units)) is not None:
            found.append((units, *one))
    total = sum(units for units, _, _ in found)
    if not total:
        return Estimate.undefined(_ONE_LABEL if seen else _TOO_FEW, seen)
    kappa = sum(units * value for units, value, _ in found) / total
    error = sqrt(sum((units * spread) ** 2 for units, _, spread in found)) / total
    return Estimate(kappa, _around(kappa, error, confidence), total)


def _require_two(ratings: Mapping[Row, int]) -> None:
    if any(len(labels) != 2 for labels in ratings):
        raise ValueError("Cohen's kappa compares two raters; use gwet_ac1, fleiss_kappa or krippendorff_alpha for more")


def _kappa(pairs: Mapping[tuple[Label, ...], float], units: float) -> tuple[float, float] | None:
    """Return Cohen's kappa of paired labels and its standard error; None where chance explains everything."""
    first: defaultdict[Label, float] = defaultdict(float)
    second: defaultdict[Label, float] = defaultdict(float)
    for (one, other), count in pairs.items():
        first[one] += count
        second[other] += count
    observed = sum(count for (one, other), count in pairs.items() if one == other) / units
    chance = sum(count * second.get(label, 0) for label, count in first.items()) / units**2
    if chance == 1:
        return None
    kappa = (observed - chance) / (1 - chance)
    spread = -((kappa - chance * (1 - kappa)) ** 2)
    for (one, other), count in pairs.items():
        if one == other:
            margins = (first[one] + second[one]) / units
            spread += count / units * (1 - margins * (1 - kappa)) ** 2
        else:
            # The first rater's margin of the second's label, and the reverse.
            margins = (second[one] + first[other]) / units
            spread += count / units * ((1 - kappa) * margins) ** 2
    return kappa, sqrt(max(0.0, spread) / units) / (1 - chance)


def gwet_ac1(ratings: Mapping[Row, int], *, labels: Collection[Label] = (), confidence: float = 0.95) -> Estimate:
    """Return Gwet's AC1 of any number of raters: (p_a - p_e)/(1 - p_e), p_e = Σ π_q(1 - π_q)/(Q - 1).

    π_q is the mean over units of the share of its labels that are q, p_a is `percent_agreement`, Q how many labels
    could be given: those seen, and `labels` where some never were. The interval is analytic, value ± z·√v, with the
    variance of K. L. Gwet, "Computing inter-rater reliability and its variance in the presence of high agreement",
    British Journal of Mathematical and Statistical Psychology 61 (2008), as extended to missing labels in his "Handbook
    of Inter-Rater Reliability" (2014), 5. Undefined where only one label could be given.
    """
    rows = _given(ratings)
    shares = _mean_shares(rows)
    categories = len(shares.keys() | set(labels))
    if _units_paired(rows) and categories < 2:
        return Estimate.undefined(_ONE_LABEL, _units_paired(rows))
    weight = {label: (1 - share) / max(1, categories - 1) for label, share in shares.items()}
    return _chance_corrected(rows, shares, weight, confidence)


def fleiss_kappa(ratings: Mapping[Row, int], *, confidence: float = 0.95) -> Estimate:
    """Return Fleiss' kappa of any number of raters: (p_a - p_e)/(1 - p_e), p_e = Σ π_q², terms as in `gwet_ac1`.

    With two raters it is Scott's pi, not Cohen's kappa. Source: J. L. Fleiss, "Measuring nominal scale agreement among
    many raters", Psychological Bulletin 76 (1971), with missing labels and the analytic interval as in Gwet (2014), 5.
    """
    rows = _given(ratings)
    shares = _mean_shares(rows)
    if _units_paired(rows) and len(shares) == 1:
        return Estimate.undefined(_ONE_LABEL, _units_paired(rows))
    return _chance_corrected(rows, shares, shares, confidence)


def paired(ratings: Mapping[Row, int]) -> Counter[tuple[Label, ...]]:
    """Return the ratings with two labels or more, without the missing ones. Raises ValueError on a negative count."""
    return Counter({labels: count for labels, count in _given(ratings).items() if len(labels) > 1})


def _given(ratings: Mapping[Row, int]) -> Counter[tuple[Label, ...]]:
    rows: Counter[tuple[Label, ...]] = Counter()
    for labels, count in ratings.items():
        if count < 0:
            raise ValueError("a count is negative")
        given = tuple(label for label in labels if label is not None)
        if given and count:
            rows[given] += count
    return rows


def _chance_corrected(
    rows: _Rows, shares: Mapping[Label, float], weight: Mapping[Label, float], confidence: float
) -> Estimate:
    """Return (p_a - p_e)/(1 - p_e) with p_e = Σ π_q·weight_q and Gwet's variance over units."""
    counted, units = _units_paired(rows), sum(rows.values())
    if not counted:
        return Estimate.undefined(_TOO_FEW)
    agreed = sum(_agreement_of(labels) * count for labels, count in rows.items() if len(labels) > 1) / counted
    chance = sum(share * weight[label] for label, share in shares.items())
    value = (agreed - chance) / (1 - chance)
    if units < 2:
        return Estimate(value, None, counted)
    squares = 0.0
    for labels, count in rows.items():
        # One unit's own value, corrected for what it adds to chance. Units with one label add to chance alone.
        own = units / counted * (_agreement_of(labels) - chance) / (1 - chance) if len(labels) > 1 else 0.0
        expected = sum(weight[label] for label in labels) / len(labels)
        squares += count * (own - 2 * (1 - value) * (expected - chance) / (1 - chance) - value) ** 2
    return Estimate(value, _around(value, sqrt(squares / units / (units - 1)), confidence), counted)


def _units_paired(rows: _Rows) -> int:
    return sum(count for labels, count in rows.items() if len(labels) > 1)


def _mean_shares(rows: _Rows) -> dict[Label, float]:
    units = sum(rows.values())
    shares: dict[Label, float] = {}
    for labels, count in rows.items():
        for label in labels:
            shares[label] = shares.get(label, 0.0) + count / len(labels) / units
    return shares


def _agreement_of(labels: tuple[Label, ...]) -> float:
    raters = len(labels)
    if raters == 2:
        return float(labels[0] == labels[1])
    return sum(count * (count - 1) for count in Counter(labels).values()) / (raters * (raters - 1))


def _around(value: float, error: float, confidence: float) -> Interval:
    half = normal_quantile(confidence) * error
    # With missing labels chance can exceed what a figure of -1 stands for.
    return Interval(max(min(-1.0, value), value - half), min(1.0, value + half))


Scale = Literal["nominal", "ordinal", "interval"]


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
