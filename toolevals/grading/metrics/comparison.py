"""Work out whether a second run on the same examples is better or worse than a first one.

What is compared is an example with all its trials in both runs, never a single trial: trials of one example are not
independent. An example that is unscored in either run is left out and counted.

Adjusts the p-values of many tests at once, so that chance findings stay rare.

Compare an adjusted p-value with alpha as if it were the only one. A test without a p-value (None) is not counted and
stays None. Raises ValueError on a p-value outside 0..1.

Work out how small a difference between two runs a dataset can show at all.

Compares precision, recall and F1 of one class in two runs on the same examples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, erfc, exp, fsum, isfinite, lcm, lgamma, log, sqrt
from statistics import NormalDist, fmean
from typing import Any, Literal

from toolevals.grading.metrics.means import difference_interval
from toolevals.grading.metrics.rates import Interval, normal_quantile, student_quantile

TestName = Literal["mcnemar", "sign_flip"]
# By example, whatever its id is.
Outcomes = Mapping[Any, Sequence[float | None]]
# The outcomes of one example's trials in a run.
Trials = tuple[float | None, ...]
# How many trials of an example passed, and how many were scored.
Share = tuple[int, int]

# Beyond these the exact distribution would take long, and the normal one is as good.
_MOST_UNITS = 20_000
_MOST_FLIPPED = 1_000


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs on the examples that both have scored.

    `before`, `after` are the means over these examples of the mean over an example's trials, `difference` is after less
    before with its `interval`. `improved` and `worsened` count the examples whose mean rose and fell.
    `p_value` is two-sided and None where no example is in both runs. `test` names it: exact McNemar where every example
    passed or failed once in each run, else the sign-flip test, for scores other than 0 and 1 of differences in
    thousandths. `spread` is the standard deviation of the examples' differences. `left_out` examples are in one run
    only or unscored in one.
    """

    examples: int
    left_out: int
    before: float | None
    after: float | None
    difference: float | None
    interval: Interval | None
    improved: int
    worsened: int
    p_value: float | None
    test: TestName | None
    spread: float | None = None


def compare_runs(before: Outcomes, after: Outcomes, *, confidence: float = 0.95) -> Comparison:
    """Compare two runs, each given as example -> the outcomes of its trials.

    An outcome is True, False, a score, or None where it is unscored. Raises ValueError unless 0 < confidence < 1.
    """
    # Most examples are like many others: what is distinct is worked out once.
    examples = (*before, *(example for example in after if example not in before))
    alike = Counter((tuple(before.get(example, ())), tuple(after.get(example, ()))) for example in examples)
    return compare_alike(alike, confidence=confidence)


def compare_alike(alike: Mapping[tuple[Trials, Trials], int], *, confidence: float = 0.95) -> Comparison:
    """Return `compare_runs` from (outcomes before, outcomes after) -> how many examples have these; empty: not there.

    Raises ValueError unless 0 < confidence < 1.
    """
    found = [(_scored(first), _scored(second), count) for (first, second), count in alike.items()]
    pairs = [(first, second, count) for first, second, count in found if first and second]
    examples = sum(count for _, _, count in pairs)
    left_out = sum(alike.values()) - examples
    if not pairs:
        return Comparison(0, left_out, None, None, None, None, 0, 0, None, None)
    means = [(fmean(first), fmean(second), count) for first, second, count in pairs]
    differences: Counter[float] = Counter()
    for first, second, count in means:
        differences[second - first] += count
    p_value, test = _tested(pairs)
    return Comparison(
        examples=examples,
        left_out=left_out,
        before=_mean((first, count) for first, _, count in means),
        after=_mean((second, count) for _, second, count in means),
        difference=_mean(differences.items()),
        interval=difference_interval(differences, confidence=confidence),
        improved=sum(count for difference, count in differences.items() if difference > 0),
        worsened=sum(count for difference, count in differences.items() if difference < 0),
        p_value=p_value,
        test=test,
        spread=_spread(differences),
    )


def compare_counted(counts: Mapping[tuple[Share, Share], int], *, confidence: float = 0.95) -> Comparison:
    """Compare two runs whose outcomes are passed or failed, given as (before, after) -> how many examples are like it.

    `before` and `after` are (passed, scored) trials of an example in the two runs; without a scored trial it is left
    out. The same as `compare_runs` on every example by itself, at a cost that does not grow with their number. Raises
    ValueError unless 0 < confidence < 1.
    """
    paired = {pair: count for pair, count in counts.items() if count and pair[0][1] and pair[1][1]}
    examples = sum(paired.values())
    left_out = sum(counts.values()) - examples
    if not paired:
        return Comparison(0, left_out, None, None, None, None, 0, 0, None, None)
    before, after, differences = Fraction(), Fraction(), Counter[Fraction]()
    for (first, second), count in paired.items():
        shares = Fraction(*first), Fraction(*second)
        before += shares[0] * count
        after += shares[1] * count
        differences[shares[1] - shares[0]] += count
    improved = sum(count for difference, count in differences.items() if difference > 0)
    worsened = sum(count for difference, count in differences.items() if difference < 0)
    plain = Counter({float(each): count for each, count in differences.items()})
    single = all(first[1] == second[1] == 1 for first, second in paired)
    return Comparison(
        examples=examples,
        left_out=left_out,
        before=float(before / examples),
        after=float(after / examples),
        difference=float((after - before) / examples),
        interval=difference_interval(
            {float(each): count for each, count in differences.items()}, confidence=confidence
        ),
        improved=improved,
        worsened=worsened,
        p_value=mcnemar(worsened, improved) if single else sign_flip_counted(differences),
        test="mcnemar" if single else "sign_flip",
        spread=_spread(plain),
    )


def mcnemar(only_before: int, only_after: int) -> float:
    """Return the exact two-sided p-value of McNemar's test from the two discordant counts.

    Under the hypothesis of no difference each of the n = only_before + only_after discordant examples is as likely to
    be one as the other: p = min(1, 2·P(X <= min of the two)), X ~ Binomial(n, 1/2). Source: Q. McNemar, "Note on the
    sampling error of the difference between correlated proportions", Psychometrika 12 (1947). 1 without discordant
    examples. Raises ValueError on a negative count.
    """
    fewer, n = min(only_before, only_after), only_before + only_after
    if fewer < 0:
        raise ValueError("a count is negative")
    if only_before == only_after:
        return 1.0
    if n <= _MOST_FLIPPED:
        return 2 * _fewer_heads(n, fewer) / (1 << n)
    # From the largest term down, until what follows no longer shows.
    term = total = 1.0
    for i in range(fewer, 0, -1):
        term *= i / (n - i + 1)
        total += term
        if term < total * 1e-17:
            break
    largest = exp(lgamma(n + 1) - lgamma(fewer + 1) - lgamma(n - fewer + 1) - n * log(2))
    return min(1.0, 2 * largest * total)


def fisher_fewer(before: tuple[int, int], after: tuple[int, int]) -> float:
    """Return the one-sided p-value of Fisher's exact test that a rate has fallen, from (how often, of how many) twice.

    With the sums of the two-by-two table given, and no difference between the two rates, it is the chance that the
    second has as few or fewer: p = Σ C(n1, s-k)·C(n2, k) / C(n1+n2, s) over k up to what was counted, where s is how
    often it was seen in all. Source: R. A. Fisher, "Statistical Methods for Research Workers", 5th edition (1934),
    section 21.02. 1 where it was never seen, or nothing was counted after. Raises ValueError unless 0 <= seen <= total.
    """
    (seen, total), (later, later_total) = before, after
    if not (0 <= seen <= total and 0 <= later <= later_total):
        raise ValueError(f"{seen} of {total} and {later} of {later_total} are not two proportions")
    least = max(0, seen + later - total)
    # From what was counted down, each term from the one above it, relative to the first.
    term = share = 1.0
    for k in range(later, least, -1):
        term *= k * (total - seen - later + k) / ((seen + later - k + 1) * (later_total - k + 1))
        share += term
        if term < share * 1e-17:
            break
    first = _log_choices(total, seen) + _log_choices(later_total, later)
    return min(1.0, share * exp(first - _log_choices(total + later_total, seen + later)))


def _log_choices(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def sign_flip_counted(differences: Mapping[Fraction, int]) -> float:
    """Return the two-sided p-value of the sign-flip (paired permutation) test, from difference -> how many have it.

    Under the hypothesis of no difference an example's difference is as likely to have either sign: p is the share of
    all sign patterns whose sum is at least as far from 0. Source: R. A. Fisher, "The Design of Experiments" (1935), 21.
    Exact up to 1,000 differences other than 0 and sums of 20,000 of their common unit; beyond that by the normal
    distribution, z = Σd/√Σd². Equal to `mcnemar` where all differences are of one size. 1 without differences.
    """
    moved = {difference: count for difference, count in differences.items() if difference and count}
    if not moved:
        return 1.0
    unit = lcm(*(difference.denominator for difference in moved))
    sizes = {int(difference * unit): count for difference, count in moved.items()}
    many = sum(sizes.values())
    observed = abs(sum(size * count for size, count in sizes.items()))
    largest = sum(abs(size) * count for size, count in sizes.items())
    if many > _MOST_FLIPPED or largest > _MOST_UNITS:
        return min(1.0, erfc(observed / sqrt(2 * sum(size * size * count for size, count in sizes.items()))))
    if observed == 0:
        return 1.0
    # One large integer holds how many sign patterns have each sum of positive sizes, so many bits a sum.
    bits = many + 1
    patterns = 1
    for size, count in sizes.items():
        for _ in range(count):
            patterns += patterns << abs(size) * bits
    tail = patterns & ((1 << ((largest - observed) // 2 + 1) * bits) - 1)
    # The sum of the digits in base b is the number modulo b - 1, as long as it is smaller.
    return float(min(Fraction(1), Fraction(2 * (tail % ((1 << bits) - 1)), 1 << many)))


def _fewer_heads(n: int, most: int) -> int:
    """Return how many of all outcomes of n coins have at most so many heads, which is less than half of the coins."""
    between = n - 2 * most - 1
    if most < between:
        return _outcomes(n, range(most + 1))
    # What does not lie between so many heads and so many tails is half on either side.
    return ((1 << n) - _outcomes(n, range(most + 1, most + 1 + between))) // 2


def _outcomes(n: int, heads: range) -> int:
    """Return how many of all outcomes of n coins have one of these numbers of heads: each is made of the one before."""
    if not heads:
        return 0
    term = total = comb(n, heads[0])
    for i in heads[1:]:
        term = term * (n - i + 1) // i
        total += term
    return total


def _spread(differences: Mapping[float, int]) -> float:
    """Return the standard deviation, from difference -> how many have it."""
    many = sum(differences.values())
    mean = fsum(difference * count for difference, count in differences.items()) / many
    return sqrt(fsum((difference - mean) ** 2 * count for difference, count in differences.items()) / many)


def _tested(pairs: Sequence[tuple[list[float], list[float], int]]) -> tuple[float, TestName]:
    """Return the p-value of (before, after, how many examples) and the name of its test."""
    if any(outcome not in (0, 1) for first, second, _ in pairs for outcome in (*first, *second)):
        thousandths: Counter[Fraction] = Counter()
        for first, second, count in pairs:
            thousandths[Fraction(round((fmean(second) - fmean(first)) * 1000), 1000)] += count
        return sign_flip_counted(thousandths), "sign_flip"
    if all(len(first) == len(second) == 1 for first, second, _ in pairs):
        only_before = sum(count for first, second, count in pairs if first[0] > second[0])
        only_after = sum(count for first, second, count in pairs if first[0] < second[0])
        return mcnemar(only_before, only_after), "mcnemar"
    shares: Counter[Fraction] = Counter()
    for first, second, count in pairs:
        shares[Fraction(int(sum(second)), len(second)) - Fraction(int(sum(first)), len(first))] += count
    return sign_flip_counted(shares), "sign_flip"


def _mean(counted: Iterable[tuple[float, int]]) -> float:
    """Return the mean of (value, how many), rounded as the mean of each by itself is."""
    rows = list(counted)
    return float(sum(Fraction(value) * count for value, count in rows)) / sum(count for _, count in rows)


def _scored(trials: Sequence[float | None]) -> list[float]:
    return [float(outcome) for outcome in trials if outcome is not None and isfinite(outcome)]


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the p-values adjusted so that the chance of any false finding is at most alpha.

    In order of size p(1) <= ... <= p(m), the i-th becomes max over j <= i of min(1, (m - j + 1)·p(j)). Source: S. Holm,
    "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979).
    """
    order = _ordered(p_values)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p_value, place) in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p_value))
        adjusted[place] = largest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the p-values adjusted so that the expected share of false findings among all findings is at most alpha.

    In order of size, the i-th becomes min over j >= i of min(1, m·p(j)/j). Source: Y. Benjamini and Y. Hochberg,
    "Controlling the false discovery rate", Journal of the Royal Statistical Society B 57 (1995).
    """
    order = _ordered(p_values)
    adjusted: list[float | None] = [None] * len(p_values)
    smallest = 1.0
    for rank, (p_value, place) in reversed(list(enumerate(order, start=1))):
        smallest = min(smallest, len(order) * p_value / rank)
        adjusted[place] = smallest
    return adjusted


def _ordered(p_values: Sequence[float | None]) -> list[tuple[float, int]]:
    known = [(p_value, place) for place, p_value in enumerate(p_values) if p_value is not None]
    if any(not 0 <= p_value <= 1 for p_value, _ in known):
        raise ValueError("a p-value is between 0 and 1")
    return sorted(known)


def smallest_significant(examples: int, alpha: float = 0.05) -> float | None:
    """Return the smallest difference of two pass rates that the exact McNemar test can find significant at all.

    It is d/examples, where d is the fewest discordant examples, all in one direction (`fewest_changed`). None where the
    examples are fewer: then no outcome is significant. Raises ValueError unless 0 < alpha < 1.
    """
    discordant = fewest_changed(alpha)
    return discordant / examples if examples >= discordant else None


def smallest_detectable(
    examples: int, discordant_share: float, *, alpha: float = 0.05, power: float = 0.8
) -> float | None:
    """Return the smallest true difference of two pass rates that is found with probability `power`.

    `discordant_share` ψ is the share of examples that come out otherwise in the two runs. The difference δ solves
    examples = (z(1-alpha/2)·√ψ + z(power)·√(ψ - δ²))²/δ² (R. J. Connor, "Sample size for testing differences in
    proportions for the paired-sample design", Biometrics 43, 1987). None where even a difference of ψ, all in one
    direction, would not be found. Raises ValueError unless 0 <= ψ <= 1, 0 < alpha < 1 and 0 < power < 1.
    """
    _check_share(alpha, "alpha")
    _check_share(power, "power")
    if not 0 <= discordant_share <= 1:
        raise ValueError("the discordant share is between 0 and 1")
    if examples <= 0 or discordant_share == 0:
        return None
    z_alpha, z_power = NormalDist().inv_cdf(1 - alpha / 2), NormalDist().inv_cdf(power)

    def needed(difference: float) -> float:
        spread = sqrt(max(0.0, discordant_share - difference * difference))
        return ((z_alpha * sqrt(discordant_share) + z_power * spread) / difference) ** 2

    low, high = 0.0, discordant_share
    if needed(high) > examples:
        return None
    for _ in range(60):
        middle = (low + high) / 2
        if needed(middle) > examples:
            low = middle
        else:
            high = middle
    return high


def smallest_detectable_mean(examples: int, spread: float, *, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """Return the smallest true difference of two paired means that is found with probability `power`.

    `spread` σ is the standard deviation of the examples' differences: δ = (z(1-alpha/2) + z(power))·σ/√examples, by the
    normal distribution (J. Cohen, "Statistical Power Analysis for the Behavioral Sciences", 1988, 2.3.5). None without
    examples or spread. Raises ValueError on a negative spread and unless 0 < alpha < 1 and 0 < power < 1.
    """
    _check_share(alpha, "alpha")
    _check_share(power, "power")
    if spread < 0:
        raise ValueError("a spread is not negative")
    if examples <= 0 or spread == 0:
        return None
    return (NormalDist().inv_cdf(1 - alpha / 2) + NormalDist().inv_cdf(power)) * spread / sqrt(examples)


def fewest_changed(alpha: float = 0.05) -> int:
    """Return how many examples have to change, all in one direction, for a paired exact test to find it: six at .05.

    It holds for McNemar's test and for the sign-flip test, whose smallest p-value of d changed examples is 2·(1/2)^d.
    Raises ValueError unless 0 < alpha < 1.
    """
    _check_share(alpha, "alpha")
    changed = 1
    while mcnemar(0, changed) > alpha:
        changed += 1
    return changed


def _check_share(value: float, name: str) -> None:
    if not 0 < value < 1:
        raise ValueError(f"{name} is between 0 and 1, both excluded")


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
