"""The figures that conditions are about, over a list of cases: what is observed, and what it could still become.

A case that nobody has scored could turn out as anything between 0 and 1. A figure therefore comes with the lowest and
the highest value that it could take; a condition passes only where it holds for all of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
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
TOOL_STATISTICS = ("precision", "recall", "f1")
STATISTICS: tuple[str, ...] = (*_SCORE_STATISTICS, *_RUNTIME_STATISTICS)


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
    rows = [(case, case.score(name)) for case in cases for name in _asked(case, metric)]
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


def tool_figure(statistic: str, cases: Sequence[GateCase], tool: str) -> Figure:
    """Return precision, recall or F1 of one class over all cases with an expected class.

    A case without a called class is unscored. It could still be a call of this tool, right or wrong.
    """
    known = [case for case in cases if case.tool and case.called]
    unknown = [case for case in cases if case.tool and not case.called]
    correct = sum(case.tool == case.called == tool for case in known)
    support, predicted = sum(case.tool == tool for case in known), sum(case.called == tool for case in known)
    own = sum(case.tool == tool for case in unknown)
    others = len(unknown) - own
    if statistic == "precision":
        observed, low, high = (
            _ratio(correct, predicted),
            _ratio(correct, predicted + others),
            _ratio(correct + own, predicted + own),
        )
        interval: Interval | None = wilson(correct, predicted)
    elif statistic == "recall":
        whole = support + own
        observed, low, high = _ratio(correct, support), _ratio(correct, whole), _ratio(correct + own, whole)
        interval = wilson(correct, support)
    else:
        either = support + predicted
        observed, low, high = (
            _ratio(2 * correct, either),
            _ratio(2 * correct, either + own + others),
            _ratio(2 * (correct + own), either + 2 * own),
        )
        interval = f1_interval(correct, support, predicted, len(known))
    if observed is None or len({case.example for case in known}) < len(known):
        # Trials of one example are not independent.
        interval = None
    return Figure(observed, 0.0 if low is None else low, 1.0 if high is None else high, support, own, interval)


def _asked(case: GateCase, metric: str | None) -> list[str]:
    if metric is None:
        return sorted(case.scores)
    return [metric] if case.asks(metric) else []


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


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
