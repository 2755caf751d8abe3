"""Work out how far raters agree beyond chance, on labels without an order.

Every figure takes `ratings`: how many units were labelled in this way, by the tuple of their labels, one place a rater,
None where a rater gave none. A confusion matrix's counts are such ratings of two raters; `Counter(rows)` makes them of
rows. Units with fewer than two labels say nothing about agreement and are left out of it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping
from math import sqrt
from typing import TypeVar

from toolevals.grading.metrics.clustered import ExampleSums
from toolevals.grading.metrics.estimates import Estimate
from toolevals.grading.metrics.means import mean_interval
from toolevals.grading.metrics.rates import Interval, normal_quantile, wilson
from toolevals.grading.metrics.student import student_quantile

Label = Hashable
Row = TypeVar("Row", bound=tuple[Label, ...])
_Rows = Mapping[tuple[Label, ...], int]

_TOO_FEW = "no unit has two labels"
_ONE_LABEL = "all labels are the same, so that chance explains them"


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
