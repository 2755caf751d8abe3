"""The figures that conditions are about, over a list of cases: what is observed, and what it could still become.

A case that nobody has scored could turn out as anything between 0 and 1. A figure therefore comes with the lowest and
the highest value that it could take; a condition passes only where it holds for all of them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from toolevals.grading.gates.values import PASS_MARK, GateCase
from toolevals.grading.metrics.bootstrap import clustered_mean, f1_interval
from toolevals.grading.metrics.percentiles import percentile
from toolevals.grading.metrics.rates import Interval, wilson

# What a list of scores says, by the names of the public command line that these conditions come from.
_SCORE_STATISTICS: dict[str, Callable[[Sequence[float]], float]] = {
    "pass_rate": lambda scores: sum(score >= PASS_MARK for score in scores) / len(scores),
    "avg_score": fmean,
    "min_score": min,
    "max_score": max,
    "failed_count": lambda scores: float(sum(score < PASS_MARK for score in scores)),
    "passed_count": lambda scores: float(sum(score >= PASS_MARK for score in scores)),
    "total_count": lambda scores: float(len(scores)),
    "p50_score": lambda scores: percentile(scores, 0.5) or 0.0,
    "p90_score": lambda scores: percentile(scores, 0.9) or 0.0,
    "p95_score": lambda scores: percentile(scores, 0.95) or 0.0,
    "total_pass_rate": lambda scores: sum(score >= PASS_MARK for score in scores) / len(scores),
}
_RUNTIME_STATISTICS: dict[str, Callable[[Sequence[float]], float]] = {
    "runtime_avg": fmean,
    "runtime_p95": lambda runtimes: percentile(runtimes, 0.95) or 0.0,
}
STATISTICS: tuple[str, ...] = (*_SCORE_STATISTICS, *_RUNTIME_STATISTICS)
# Those that are a share or a score, 0 to 1.
SHARES: frozenset[str] = frozenset(name for name in _SCORE_STATISTICS if not name.endswith("_count"))


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure over `count` scored cases, `unscored` beside them, and the range low..high that it could still take."""

    observed: float | None
    low: float
    high: float
    count: int
    unscored: int
    interval: Interval | None = None


def figure_of(statistic: str, cases: Sequence[GateCase], metric: str | None) -> Figure:
    """Return a statistic of STATISTICS over the cases where a metric arises; None takes all metrics together."""
    if statistic in _RUNTIME_STATISTICS:
        return _runtime(statistic, cases, metric)
    rows = [(case, case.score(name)) for case in cases for name in case.asked(metric)]
    scores = [score for _, score in rows if score is not None]
    unscored = len(rows) - len(scores)
    if not rows:
        return Figure(None, 0.0, 1.0, 0, 0)
    compute = _SCORE_STATISTICS[statistic]
    ends = sorted(compute([*scores, *[rest] * unscored]) for rest in (0.0, 1.0))
    observed = compute(scores) if scores else None
    interval = _interval(statistic, rows, observed)
    return Figure(observed, ends[0], ends[1], len(scores), unscored, interval)


def share_meeting(meets: Callable[[float], bool], cases: Sequence[GateCase], metric: str) -> Figure:
    """Return the share of the cases where the metric arises whose score meets a condition."""
    rows = [(case, case.score(metric)) for case in cases if case.asks(metric)]
    marks = [(case, None if score is None else float(meets(score))) for case, score in rows]
    met = [mark for _, mark in marks if mark is not None]
    unscored = len(rows) - len(met)
    if not rows:
        return Figure(None, 0.0, 1.0, 0, 0)
    observed = sum(met) / len(met) if met else None
    low, high = sum(met) / len(rows), (sum(met) + unscored) / len(rows)
    return Figure(observed, low, high, len(met), unscored, _interval("pass_rate", marks, observed))


class ToolCounts:
    """How often each class is expected, called, and both, counted once for all classes.

    A case with an expected class and no called one is unscored. It could still be a call of any tool, right or wrong.
    """

    def __init__(self, cases: Iterable[GateCase]) -> None:
        expected = [case for case in cases if case.tool]
        known = [case for case in expected if case.called]
        self._support = Counter(case.tool for case in known)
        self._predicted = Counter(case.called for case in known)
        self._correct = Counter(case.tool for case in known if case.tool == case.called)
        self._unscored = Counter(case.tool for case in expected if not case.called)
        self._total = len(known)
        # Trials of one example are not independent: no interval here is made for them.
        self._single = len({case.example for case in known}) == len(known)

    def figure(self, statistic: str, tool: str) -> Figure:
        """Return precision, recall or F1 of one class, as `statistic` says."""
        correct, support, predicted = self._correct[tool], self._support[tool], self._predicted[tool]
        own = self._unscored[tool]
        others = self._unscored.total() - own
        if statistic == "precision":
            shares = (correct, predicted), (correct, predicted + others), (correct + own, predicted + own)
            interval: Interval | None = wilson(correct, predicted)
        elif statistic == "recall":
            shares = (correct, support), (correct, support + own), (correct + own, support + own)
            interval = wilson(correct, support)
        else:
            twice, either = 2 * correct, support + predicted
            shares = (twice, either), (twice, either + own + others), (twice + 2 * own, either + 2 * own)
            interval = f1_interval(correct, support, predicted, self._total)
        observed, low, high = (part / whole if whole else None for part, whole in shares)
        if observed is None or not self._single:
            interval = None
        return Figure(observed, 0.0 if low is None else low, 1.0 if high is None else high, support, own, interval)


def _runtime(statistic: str, cases: Sequence[GateCase], metric: str | None) -> Figure:
    asked = [case for case in cases if metric is None or case.asks(metric)]
    runtimes = [case.runtime_ms for case in asked if case.runtime_ms is not None]
    if not runtimes:
        return Figure(None, 0.0, float("inf"), 0, len(asked))
    value = _RUNTIME_STATISTICS[statistic](runtimes)
    # Runtimes that were not measured are left out: nobody could bound what they were.
    return Figure(value, value, value, len(runtimes), 0)


def _interval(statistic: str, rows: Sequence[tuple[GateCase, float | None]], observed: float | None) -> Interval | None:
    """Return Wilson's interval of a rate over single trials, a bootstrap over examples of anything else with a mean."""
    if observed is None or statistic not in ("pass_rate", "total_pass_rate", "avg_score"):
        return None
    outcomes: defaultdict[str, list[float]] = defaultdict(list)
    for case, score in rows:
        if score is not None:
            outcomes[case.example].append(score if statistic == "avg_score" else float(score >= PASS_MARK))
    if statistic != "avg_score" and all(len(trials) == 1 for trials in outcomes.values()):
        return wilson(int(sum(trials[0] for trials in outcomes.values())), len(outcomes))
    interval = clustered_mean(outcomes).interval
    return None if interval is None else Interval(min(interval.low, observed), max(interval.high, observed))
