"""Coverage of intervals: how often that of a rate holds the true rate, and those of other figures theirs.

With one trial an example the coverage of a rate is an exact sum. With more, the trials of an example are beta-binomial
of a given correlation, and samples are drawn with a seed. For F1, differences of runs, pass^k and Cohen's kappa an
example is of one of a few kinds with given chances. `figure_cells` are all that docs/grading.md says of them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import accumulate, product
from math import comb, exp, factorial, fsum, lgamma, log, prod
from random import Random
from typing import Final

from toolevals.grading.metrics.agreement import clustered_kappa
from toolevals.grading.metrics.clustered import ExampleSums, clustered_interval, f1_sums
from toolevals.grading.metrics.comparison import ClassCounts, paired_class
from toolevals.grading.metrics.means import difference_interval
from toolevals.grading.metrics.rates import Interval
from toolevals.grading.metrics.reliability import pass_hat_k, tallied_pass_hat_k

# Of all cells: the lowest coverage, what is low and how many may be, and the mean.
LOWEST, LOW, MOST_LOW, MEAN = 0.90, 0.92, 0.05, (0.94, 0.975)
EXAMPLES: Final = (10, 20, 30, 50, 100, 300)
RATES: Final = (0.5, 0.8, 0.944, 0.97)
CORRELATIONS: Final = (0.0, 0.3, 0.9)
# The shares of examples that only the first run passes, and that only the second does, with one trial each.
CHANGES: Final = (
    *((share, 0.0) for share in (0.02, 0.05, 0.1, 0.2, 0.3)),
    *((share, share) for share in (0.02, 0.05, 0.1, 0.3)),
    *((0.1, 0.05), (0.2, 0.1), (0.3, 0.1), (0.6, 0.1)),
)
# Examples that always pass, that never do, and the rates of a trial of the others in both runs.
MIXTURES: Final = (
    *((0.5, 0.2, 0.5, 0.5), (0.5, 0.2, 0.3, 0.7), (0.0, 0.0, 0.8, 0.8), (0.0, 0.0, 0.7, 0.9)),
    *((0.7, 0.1, 0.5, 0.9), (0.8, 0.1, 0.9, 0.9), (0.6, 0.0, 1.0, 0.8)),
)
CLASS_RATES: Final = ((0.6, 0.6), (0.8, 0.9), (0.9, 0.9), (0.95, 0.95), (0.5, 0.8), (0.9, 1.0), (0.8, 1.0))
ALIKE: Final = (0.0, 0.9)
# The shares of units that either rater passes, and how far they agree beyond chance.
RATERS: Final = ((0.5, 0.5), (0.8, 0.8), (0.6, 0.5), (0.9, 0.85))
KAPPAS: Final = (0.2, 0.6, 0.8, 0.95)
# What two raters say of a unit.
BOTH: Final = ((True, True), (True, False), (False, True), (False, False))
Method = Callable[[ExampleSums], Interval]
Counts = Sequence[int]
_Interval = Callable[[Counts], Interval | None]


def coverage(
    examples: int, trials: int, rate: float, correlation: float, draws: int, *, method: Method = clustered_interval
) -> float:
    """Return the share of samples whose interval holds the true rate: exact with one trial, else of seeded draws."""
    if trials == 1:
        sums = {passed: ExampleSums.single(passed, examples) for passed in range(examples + 1)}
        return sum(binomial(examples, passed, rate) for passed in sums if _holds(method(sums[passed]), rate))
    found = samples(examples, beta_binomial(trials, rate, correlation), draws)
    return sum(count for sums, count in found.items() if _holds(method(sums), rate)) / draws


def samples(examples: int, shares: list[float], draws: int, seed: int = 1) -> Counter[ExampleSums]:
    """Draw samples of examples, by the chance that 0, 1, 2, ... of an example's trials pass, and count equal ones."""
    random = Random(seed)
    trials = len(shares) - 1
    # The most likely first: the others then are few, or none.
    order = sorted(range(trials + 1), key=lambda passed: -shares[passed])
    found: Counter[tuple[int, int]] = Counter()
    for _ in range(draws):
        left, rest, passed, squared = examples, 1.0, 0, 0
        for place in order:
            share = min(1.0, shares[place] / rest) if rest > 1e-12 else 1.0
            count = left if place == order[-1] else bisect_right(_cumulated(left, share), random.random())
            passed += count * place
            squared += count * place * place
            left -= count
            rest -= shares[place]
            if not left:
                break
        found[passed, squared] += 1
    whole = examples * trials
    return Counter(
        {
            ExampleSums(examples, whole, passed, squared, trials * passed, trials * whole): count
            for (passed, squared), count in found.items()
        }
    )


def _holds(interval: Interval, rate: float) -> bool:
    return interval.low <= rate <= interval.high


@lru_cache(maxsize=20_000)
def _cumulated(trials: int, share: float) -> list[float]:
    """Return the chance that at most 0, 1, 2, ... of so many fall to a share."""
    if not 0 < share < 1:
        return [0.0] * (trials if share else 0) + [2.0]
    sure, other = log(share), log(1 - share)
    logs = (
        lgamma(trials + 1) - lgamma(count + 1) - lgamma(trials - count + 1) + count * sure + (trials - count) * other
        for count in range(trials + 1)
    )
    ends = list(accumulate(map(exp, logs)))
    ends[-1] = 2.0  # above any draw, whatever the sum lost
    return ends


def beta_binomial(trials: int, rate: float, correlation: float) -> list[float]:
    """Return the chance that 0, 1, 2, ... trials of one example pass; two trials have this correlation."""
    if correlation <= 0:
        return [binomial(trials, passed, rate) for passed in range(trials + 1)]
    size = (1 - correlation) / correlation
    a, b = rate * size, (1 - rate) * size
    return [
        comb(trials, passed) * exp(_log_beta(passed + a, trials - passed + b) - _log_beta(a, b))
        for passed in range(trials + 1)
    ]


def binomial(trials: int, passed: int, rate: float) -> float:
    """Return the chance that so many of independent trials pass."""
    return comb(trials, passed) * rate**passed * (1 - rate) ** (trials - passed)


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


@dataclass(frozen=True, slots=True)
class FigureCell:
    """One cell: `examples` of kinds with these chances. `interval` is that of a sample, as counts of the kinds."""

    figure: str
    name: str
    examples: int
    chances: Sequence[float]
    truth: float
    interval: _Interval

    def coverage(self, draws: int, seed: int = 1) -> float:
        """Return the share of seeded samples whose interval holds the true figure; those without one are left out."""
        random, ends = Random(seed), list(accumulate(self.chances))
        samples: Counter[tuple[int, ...]] = Counter()
        for _ in range(draws):
            drawn = Counter(random.choices(range(len(ends)), cum_weights=ends, k=self.examples))
            samples[tuple(drawn[kind] for kind in range(len(ends)))] += 1
        found = [(interval, count) for counts, count in samples.items() if (interval := self.interval(counts))]
        held = sum(count for each, count in found if each.low - 1e-9 <= self.truth <= each.high + 1e-9)
        return held / sum(count for _, count in found)


def figure_cells() -> Iterator[FigureCell]:
    """Yield every cell, those of one figure together."""
    yield from _f1()
    yield from _f1_of_trials()
    yield from _differences()
    yield from _trial_differences()
    yield from _same_agents()
    yield from _rare_breaks()
    yield from _class_differences()
    yield from _pass_hat()
    yield from _kappas()


def _f1() -> Iterator[FigureCell]:
    """Yield F1 of cases with one call: a case is expected and called, or only one of both."""
    for examples, truth in product(EXAMPLES, (*RATES, 0.7, 0.9)):
        both = truth / (2 - truth)
        yield FigureCell("F1", f"{truth:g}, {examples}", examples, [both, 1 - both], truth, _f1_interval)


def _f1_interval(counts: Counts) -> Interval:
    both, only_one = counts
    return clustered_interval(f1_sums(both, both + only_one, both))


def _f1_of_trials() -> Iterator[FigureCell]:
    """Yield F1 of several trials: half of the examples are of the class, and as many calls are missed as are wrong."""
    for examples, trials, truth, correlation in product(EXAMPLES, (2, 4, 8), (0.6, 0.8, 0.95), CORRELATIONS):
        chances = [chance / 2 for chance in beta_binomial(trials, truth, correlation) for _ in range(2)]
        # Expected and called together, and twice what is right: of the class, and of another that is called as it.
        kinds = [kind for passed in range(trials + 1) for kind in ((trials + passed, 2 * passed), (trials - passed, 0))]
        name = f"{truth:g}, {examples} x {trials}, correlation {correlation:g}"
        yield FigureCell("F1 of trials", name, examples, chances, truth, partial(_ratio_interval, kinds))


def _ratio_interval(kinds: Sequence[tuple[int, int]], counts: Counts) -> Interval:
    tallies: Counter[tuple[int, int]] = Counter()
    for kind, count in zip(kinds, counts, strict=True):
        tallies[kind] += count
    return clustered_interval(ExampleSums.of(tallies))


def _differences() -> Iterator[FigureCell]:
    """Yield differences between two runs of one trial on the same examples."""
    for examples, (less, more) in product(EXAMPLES, CHANGES):
        chances, interval = [less, 1 - less - more, more], partial(_difference_interval, (-1.0, 0.0, 1.0))
        yield FigureCell("difference", f"-{less:g} +{more:g}, {examples}", examples, chances, more - less, interval)


def _trial_differences() -> Iterator[FigureCell]:
    """Yield differences between two runs of four trials."""
    trials = 4
    steps = list(product(range(trials + 1), repeat=2))
    values = tuple((two - one) / trials for one, two in steps)
    for examples, (always, never, before, after) in product(EXAMPLES, MIXTURES):
        rest = 1 - always - never
        chances = [rest * binomial(trials, one, before) * binomial(trials, two, after) for one, two in steps]
        chances[0] += never
        chances[-1] += always
        name = f"{before:g} to {after:g} of {rest:g}, {examples} x {trials}"
        interval = partial(_difference_interval, values)
        yield FigureCell("difference of trials", name, examples, chances, rest * (after - before), interval)


def _same_agents() -> Iterator[FigureCell]:
    """Yield differences between two runs of the same agent: the trials of both pass with the example's own chance."""
    for trials, examples, rate, correlation in product((1, 2, 4, 8), EXAMPLES, RATES, CORRELATIONS):
        chances: defaultdict[float, float] = defaultdict(float)
        for passed, chance in enumerate(beta_binomial(2 * trials, rate, correlation)):
            for before in range(max(0, passed - trials), min(trials, passed) + 1):
                share = comb(trials, before) * comb(trials, passed - before) / comb(2 * trials, passed)
                chances[(passed - 2 * before) / trials] += chance * share
        name = f"{rate:g}, {examples} x {trials}, correlation {correlation:g}"
        interval = partial(_difference_interval, tuple(chances))
        figure = f"difference of the same agent, {trials} trial{'' if trials == 1 else 's'}"
        yield FigureCell(figure, name, examples, tuple(chances.values()), 0.0, interval)


def _rare_breaks() -> Iterator[FigureCell]:
    """Yield differences where few examples break wholly and others move by one of four trials either way."""
    values = (-1.0, -0.25, 0.0, 0.25)
    for examples, broken, moved in product(EXAMPLES, (0.02, 0.05, 0.1), (0.2, 0.6)):
        rest = 1 - broken
        chances = [broken, rest * moved / 2, rest * (1 - moved), rest * moved / 2]
        name = f"{broken:g} broken, {moved:g} moved, {examples}"
        interval = partial(_difference_interval, values)
        yield FigureCell("difference with rare breaks", name, examples, chances, -broken, interval)


def _difference_interval(values: Sequence[float], counts: Counts) -> Interval | None:
    found: Counter[float] = Counter()
    for value, count in zip(values, counts, strict=True):
        found[value] += count
    return difference_interval(found)


def _class_differences() -> Iterator[FigureCell]:
    """Yield differences of F1 between two runs: half of the examples are of the class, misses and wrong calls alike."""
    for examples, (before, after), alike in product(EXAMPLES, CLASS_RATES, ALIKE):
        both = before * after + alike * (min(before, after) - before * after)
        joint = {(1, 1): both, (1, 0): before - both, (0, 1): after - both, (0, 0): 1 - before - after + both}
        kinds = [_sides(right, of_class) for of_class in (True, False) for right in joint]
        chances = [max(0.0, chance) / 2 for _ in range(2) for chance in joint.values()]
        name = f"{before:g} to {after:g}, {examples}, alike {alike:g}"
        interval = partial(_class_interval, kinds)
        yield FigureCell("difference of F1", name, examples, chances, after - before, interval)


def _sides(right: tuple[int, int], of_class: bool) -> tuple[ClassCounts, ClassCounts]:
    one, two = ((each, 1, each) if of_class else (0, 0, 1 - each) for each in right)
    return one, two


def _class_interval(kinds: Sequence[tuple[ClassCounts, ClassCounts]], counts: Counts) -> Interval | None:
    found: Counter[tuple[ClassCounts, ClassCounts]] = Counter()
    for kind, count in zip(kinds, counts, strict=True):
        found[kind] += count
    return paired_class(found).f1.interval


def _pass_hat() -> Iterator[FigureCell]:
    """Yield pass^k of examples with several trials."""
    plans = (2, 2), (4, 2), (4, 4), (8, 4), (8, 8)
    for examples, (trials, k), rate, correlation in product(EXAMPLES, plans, RATES, CORRELATIONS):
        chances = beta_binomial(trials, rate, correlation)
        truth = fsum(chance * (pass_hat_k(trials, passed, k) or 0.0) for passed, chance in enumerate(chances))
        name = f"k = {k}, p = {rate:g}, {examples} x {trials}, correlation {correlation:g}"
        yield FigureCell("pass^k", name, examples, chances, truth, partial(_pass_hat_interval, trials, k))


def _pass_hat_interval(trials: int, k: int, counts: Counts) -> Interval | None:
    return tallied_pass_hat_k({(trials, passed): count for passed, count in enumerate(counts)}, k).interval


def _kappas() -> Iterator[FigureCell]:
    """Yield kappa of two raters over examples of one or four units; a part of the examples have four units alike."""
    for examples, trials, raters, kappa in product(EXAMPLES, (1, 4), RATERS, KAPPAS):
        cells = _both_said(*raters, kappa)
        if min(cells) < 0:
            continue  # raters who pass different shares cannot agree so well
        for alike in CORRELATIONS if trials > 1 else (0.0,):
            kinds = [kind for kind in product(range(trials + 1), repeat=4) if sum(kind) == trials]
            chances = [
                alike * (cells[kind.index(trials)] if trials in kind else 0)
                + (1 - alike) * factorial(trials) * prod(p**n / factorial(n) for p, n in zip(cells, kind, strict=True))
                for kind in kinds
            ]
            name = f"{kappa:g} of {raters[0]:g} and {raters[1]:g}, {examples} x {trials}, alike {alike:g}"
            yield FigureCell("kappa", name, examples, chances, kappa, partial(_kappa_interval, kinds))


def _both_said(one: float, other: float, kappa: float) -> list[float]:
    """Return the chances of BOTH, by the shares that either passes."""
    chance = one * other + (1 - one) * (1 - other)
    both = (chance + kappa * (1 - chance) - 1 + one + other) / 2
    return [both, one - both, other - both, 1 - one - other + both]


def _kappa_interval(kinds: Sequence[tuple[int, ...]], counts: Counts) -> Interval | None:
    said: Counter[tuple[bool, bool]] = Counter()
    agreed: Counter[tuple[int, int]] = Counter()
    for kind, count in zip(kinds, counts, strict=True):
        agreed[sum(kind), kind[0] + kind[3]] += count
        for pair, units in zip(BOTH, kind, strict=True):
            said[pair] += units * count
    return clustered_kappa(said, ExampleSums.of(agreed)).interval
