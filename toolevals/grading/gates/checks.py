"""Holds one condition against one figure: passed, failed, or not to be told."""

from __future__ import annotations

from collections.abc import Callable

from toolevals.grading.gates.metrics import Figure
from toolevals.grading.gates.results import Check, CheckStatus
from toolevals.grading.gates.rules import DecideBy, UnscoredPolicy
from toolevals.grading.metrics.clustered import FEWEST_EXAMPLES

_SAY_IT = "give prices to the run, or `usage` and `latency_ms` in what is uploaded."
_UNSCORED = {
    False: "without a score: score them, or run them again.",
    True: f"of which no one says what it took: {_SAY_IT}",
}
_KNOWN = {False: "scored", True: "known"}

Holds = Callable[[float, float], bool | None]


def check_figure(
    name: str, figure: Figure, holds: Holds, bound: str, policy: UnscoredPolicy, *, decide_by: DecideBy = "value"
) -> Check:
    """Return the check of a figure.

    `holds(low, high)` says whether the condition holds for all values of a range (True), for none (False), or else
    None.
    """
    if reason := _too_little(figure, policy):
        return _check(name, "unanswered", figure, bound, reason)
    answer = _decide(figure, holds, policy)
    if answer is None:
        words = f"It depends on {_cases(figure.unscored)} {_UNSCORED[figure.is_measured]}"
        return _check(name, "unanswered", figure, bound, words)
    if decide_by == "interval":
        if figure.interval is None:
            return _check(name, "unanswered", figure, bound, "There is no interval: add examples.")
        if figure.examples < FEWEST_EXAMPLES:
            words = f"{figure.examples} of {FEWEST_EXAMPLES} examples that an interval needs to decide: add examples."
            return _check(name, "unanswered", figure, bound, words)
        answer = holds(figure.interval.low, figure.interval.high)
        if answer is None:
            low, high = figure.interval.low, figure.interval.high
            words = f"The interval {low:.3f} to {high:.3f} reaches over the bound: add examples to tell."
            return _check(name, "unanswered", figure, bound, words)
    if answer:
        return _check(name, "passed", figure, bound, "")
    reason = f"It is {_number(figure.observed)} over {_cases(figure.count)}, not {bound}."
    return _check(name, "failed", figure, bound, reason)


def _too_little(figure: Figure, policy: UnscoredPolicy) -> str:
    whole = figure.count + figure.unscored
    if not whole:
        return "No case has it: check the metric's name and that its grader ran."
    if figure.observed is None:
        if figure.is_measured:
            return f"None of {_cases(whole)} says what it took: {_SAY_IT}"
        return f"None of {_cases(whole)} is scored: run its grader or judge."
    if figure.count < policy.minimum_count:
        return f"Only {_cases(figure.count)} {_KNOWN[figure.is_measured]}, and {policy.minimum_count:,} are asked for."
    if policy.minimum_share is not None and figure.count / whole < policy.minimum_share:
        asked = f"{policy.minimum_share:.0%} are asked for."
        return f"Only {figure.count:,} of {_cases(whole)} {_KNOWN[figure.is_measured]}, and {asked}"
    return ""


def _decide(figure: Figure, holds: Holds, policy: UnscoredPolicy) -> bool | None:
    if policy.minimum_share is not None and figure.observed is not None:
        return holds(figure.observed, figure.observed)
    return holds(figure.low, figure.high)


def _check(name: str, status: CheckStatus, figure: Figure, bound: str, reason: str) -> Check:
    return Check(name, status, figure.observed, figure.count, figure.interval, bound, reason)


def _cases(count: int) -> str:
    return f"{count:,} case{'' if count == 1 else 's'}"


def _number(value: float | None) -> str:
    return "unknown" if value is None else figure_words(value)


def figure_words(value: float) -> str:
    """Return a figure as it is read: four digits, and all of them before the point."""
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
