"""Works out the figures of conditions over a list of cases: what is observed, and what it could still become.

A case that no one has scored could turn out as anything between 0 and 1. A figure therefore comes with the lowest and
the highest value that it could take; a condition passes only where it holds for all of them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from math import inf
from statistics import fmean

from toolevals.grading.gates.case_table import Scores, Tally
from toolevals.grading.gates.results import PASS_MARK
from toolevals.grading.gates.rules import MEASURED_STATISTICS, OF_PASSES, SPENDING_STATISTICS
from toolevals.grading.metrics.clustered import ExampleSums, clustered_interval
from toolevals.grading.metrics.means import counted_mean, percentile
from toolevals.grading.metrics.rates import Interval

# What scores say, by the names of the public command line that these conditions come from.
_SCORE_STATISTICS: dict[str, Callable[[Counter[float]], float]] = {
    "pass_rate": lambda scores: _passed(scores) / scores.total(),
    "avg_score": lambda scores: fmean(scores.elements()),
    "min_score": min,
    "max_score": max,
    "failed_count": lambda scores: float(scores.total() - _passed(scores)),
    "passed_count": lambda scores: float(_passed(scores)),
    "total_count": lambda scores: float(scores.total()),
    "p50_score": lambda scores: percentile(scores.elements(), 0.5) or 0.0,
    "p90_score": lambda scores: percentile(scores.elements(), 0.9) or 0.0,
    "p95_score": lambda scores: percentile(scores.elements(), 0.95) or 0.0,
    "total_pass_rate": lambda scores: _passed(scores) / scores.total(),
}
# The mean of a case, or the 95th percentile of the cases.
_MEASURED: dict[str, Callable[[list[float]], float]] = {
    name: (lambda taken: percentile(taken, 0.95) or 0.0) if name.endswith("_p95") else fmean
    for name in MEASURED_STATISTICS
}
STATISTICS: tuple[str, ...] = (*_SCORE_STATISTICS, *MEASURED_STATISTICS)
# Those that are a share or a score, 0 to 1.
SHARES: frozenset[str] = frozenset(name for name in _SCORE_STATISTICS if not name.endswith("_count"))


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure over `count` scored cases, `unscored` next to them, and the range low..high that it could still take.

    `interval` is clustered by example, of `examples` examples with a scored case. `is_measured` says that it is of what
    cases took, and that those are unscored that do not say it.
    """

    observed: float | None
    low: float
    high: float
    count: int
    unscored: int
    interval: Interval | None = None
    examples: int = 0
    is_measured: bool = False


def figure_of(statistic: str, tally: Tally, metric: str | None) -> Figure:
    """Return a statistic of STATISTICS over the cases where a metric arises; None takes all metrics together."""
    if statistic in _MEASURED:
        return _measured(statistic, tally, metric)
    outcomes = tally.outcomes(metric, marks=statistic in OF_PASSES)
    if not outcomes:
        return Figure(None, 0.0, 1.0, 0, 0)
    scores, unscored = _scores(outcomes)
    compute = _SCORE_STATISTICS[statistic]
    low, high = sorted(compute(scores + Counter({rest: unscored})) for rest in (0.0, 1.0))
    observed = compute(scores) if scores else None
    return Figure(observed, low, high, scores.total(), unscored, *_interval(statistic, outcomes, observed))


def share_meeting(meets: Callable[[float], bool], tally: Tally, metric: str) -> Figure:
    """Return the share of the cases where the metric arises whose score meets a condition."""
    marks: Counter[Scores] = Counter()
    for scores, count in tally.outcomes(metric).items():
        marks[tuple(None if score is None else float(meets(score)) for score in scores)] += count
    if not marks:
        return Figure(None, 0.0, 1.0, 0, 0)
    met, unscored = _scores(marks)
    scored, passed = met.total(), met[1.0]
    observed = passed / scored if scored else None
    low, high = passed / (scored + unscored), (passed + unscored) / (scored + unscored)
    return Figure(observed, low, high, scored, unscored, *_interval("pass_rate", marks, observed))


class ToolCounts:
    """The number of times that each class is expected, called, and both, counted once for all classes.

    A case with an expected class and no called one is unscored. It could still be a call of any tool, right or wrong.
    """

    def __init__(self, tally: Tally) -> None:
        self._unscored = Counter[str]()
        # Of each class and example: how often it is expected, called, and both.
        self._examples: defaultdict[str, Counter[tuple[int, int, int]]] = defaultdict(Counter)
        for numbers, count in tally.counts.items():
            for tool, counts in self._classes(tally, numbers, count).items():
                self._examples[tool][counts] += count

    def _classes(self, tally: Tally, numbers: Iterable[int], count: int) -> dict[str, tuple[int, int, int]]:
        found: dict[str, list[int]] = {}
        for number in numbers:
            tool, called = tally.kinds[number].tool, tally.kinds[number].called
            if tool and called:
                found.setdefault(tool, [0, 0, 0])[0] += 1
                found.setdefault(called, [0, 0, 0])[1] += 1
                found[tool][2] += tool == called
            elif tool:
                self._unscored[tool] += count
        return {tool: (counts[0], counts[1], counts[2]) for tool, counts in found.items()}

    def figure(self, statistic: str, tool: str) -> Figure:
        """Return precision, recall or F1 of one class, as `statistic` says."""
        examples = self._examples.get(tool, Counter())
        support, predicted, correct = (
            sum(each[place] * count for each, count in examples.items()) for place in range(3)
        )
        own = self._unscored[tool]
        others = self._unscored.total() - own
        tallies: Counter[tuple[int, int]] = Counter()
        if statistic == "precision":
            shares = (correct, predicted), (correct, predicted + others), (correct + own, predicted + own)
            for (_, called, both), count in examples.items():
                tallies[called, both] += count
        elif statistic == "recall":
            shares = (correct, support), (correct, support + own), (correct + own, support + own)
            for (expected, _, both), count in examples.items():
                tallies[expected, both] += count
        else:
            twice, either = 2 * correct, support + predicted
            shares = (twice, either), (twice, either + own + others), (twice + 2 * own, either + 2 * own)
            for (expected, called, both), count in examples.items():
                tallies[expected + called, 2 * both] += count
        observed, low, high = (part / whole if whole else None for part, whole in shares)
        sums = ExampleSums.of(tallies)
        interval = None if observed is None else clustered_interval(sums)
        low, high = 0.0 if low is None else low, 1.0 if high is None else high
        return Figure(observed, low, high, support, own, interval, sums.examples)


def _measured(statistic: str, tally: Tally, metric: str | None) -> Figure:
    asked = {number: count for number, count in tally.cases() if metric is None or tally.kinds[number].asks(metric)}
    by_kind = tally.taken.get(MEASURED_STATISTICS[statistic], {})
    taken = list(chain.from_iterable(by_kind.get(number, ()) for number in asked))
    unknown = sum(asked.values()) - len(taken)
    if not taken:
        return Figure(None, 0.0, inf, 0, unknown, is_measured=True)
    compute = _MEASURED[statistic]
    value = compute(taken)
    if not unknown or statistic not in SPENDING_STATISTICS:
        return Figure(value, value, value, len(taken), 0, is_measured=True)
    return Figure(value, compute([*taken, *[0.0] * unknown]), inf, len(taken), unknown, is_measured=True)


def _scores(outcomes: Mapping[Scores, int]) -> tuple[Counter[float], int]:
    """Return how many cases have each score, and how many have none."""
    found: Counter[float] = Counter()
    unscored = 0
    for scores, count in outcomes.items():
        for score in scores:
            if score is None:
                unscored += count
            else:
                found[score] += count
    return found, unscored


def _passed(scores: Mapping[float, int]) -> int:
    return sum(count for score, count in scores.items() if score >= PASS_MARK)


def _interval(statistic: str, outcomes: Mapping[Scores, int], observed: float | None) -> tuple[Interval | None, int]:
    """Return the interval of a rate or mean, clustered by example, and the examples with a score."""
    tallies: Counter[tuple[int, int]] = Counter()
    counted: Counter[Scores] = Counter()
    for scores, count in outcomes.items():
        scored = tuple(score for score in scores if score is not None)
        if scored:
            counted[scored] += count
            tallies[len(scored), sum(score >= PASS_MARK for score in scored)] += count
    if observed is None or statistic not in ("pass_rate", "total_pass_rate", "avg_score"):
        return None, counted.total()
    if statistic != "avg_score":
        return clustered_interval(ExampleSums.of(tallies)), counted.total()
    interval = counted_mean(counted).interval
    if interval is None:
        return None, counted.total()
    return Interval(min(interval.low, observed), max(interval.high, observed)), counted.total()
