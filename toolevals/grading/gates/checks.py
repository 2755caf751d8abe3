"""Holds one condition against one figure: passed, failed, or not to be told.

Tell whether an agent does the same thing right every time: pass^k over several trials of each example.

Bounds error recovery by what failed: each failure counts under its tool and the class of its error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from toolevals.grading.gates.case_table import CaseTable, Scores
from toolevals.grading.gates.conditions import Condition
from toolevals.grading.gates.metrics import Figure, figure_of
from toolevals.grading.gates.results import (
    NOT_KNOWN,
    Check,
    CheckStatus,
    Failure,
    GateCase,
    scope_words,
    softened,
    with_examples,
)
from toolevals.grading.gates.rules import Bound, ConsistencyRule, DecideBy, PerFailure, UnscoredPolicy
from toolevals.grading.metrics.clustered import FEWEST_EXAMPLES
from toolevals.grading.metrics.reliability import tallied_pass_hat_k, tallied_pass_hat_value

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
            return _check(name, "unanswered", figure, bound, "No interval can be computed: add examples.")
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
        return f"Only {_cases(figure.count)} {_KNOWN[figure.is_measured]}, and {policy.minimum_count:,} are required."
    if policy.minimum_share is not None and figure.count / whole < policy.minimum_share:
        asked = f"{policy.minimum_share:.0%} are required."
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


def check_consistency(rule: ConsistencyRule, cases: CaseTable | None, *, asked: bool) -> Check:
    """Return the check of pass^k over the cases of a consistency slice, skipped where it is not asked for.

    Unanswered without a slice (None), and where an example has fewer than k trials. A trial that no one has scored
    could have passed or failed.
    """
    name, bound = f"{rule.metric} pass^{rule.k} (consistency slice)", f">= {rule.minimum:g}"
    if not asked:
        return _open(rule, name, bound, "It is for release candidates.", skipped=True)
    if cases is None:
        return _open(rule, name, bound, "There is no consistency slice: run the agent on one in this dataset.")
    outcomes = cases.tally.outcomes(rule.metric, marks=True)
    if short := sum(count for scores, count in outcomes.items() if len(scores) < rule.k):
        reason = f"{short:,} of {outcomes.total():,} examples have fewer than {rule.k} trials: run more of them."
        return _open(rule, name, bound, reason)
    condition = Condition(f"pass^{rule.k}", ">=", rule.minimum)
    figure = _figure(outcomes, rule.k)
    check = check_figure(name, figure, condition.holds, condition.words, UnscoredPolicy(), decide_by=rule.decide_by)
    wavers = [kind.asks(rule.metric) and kind.mark(rule.metric) != 1 for kind in cases.kinds]
    wavering = cases.named([("",) if each else () for each in wavers]).get("", ())
    return with_examples(replace(check, metric=rule.metric), wavering)


def _figure(outcomes: Counter[Scores], k: int) -> Figure:
    """Return pass^k as it is, and with every open trial failed and passed."""
    as_is, failed, passed = (Counter[tuple[int, int]]() for _ in range(3))
    for scores, count in outcomes.items():
        right, still = scores.count(1), scores.count(None)
        as_is[len(scores) - still, right] += count
        failed[len(scores), right] += count
        passed[len(scores), right + still] += count
    observed = tallied_pass_hat_k(as_is, k)
    low, high = (tallied_pass_hat_value(each, k) for each in (failed, passed))
    return Figure(
        observed.value,
        0.0 if low is None else low,
        1.0 if high is None else high,
        observed.count,
        outcomes.total() - observed.count,
        observed.interval,
    )


def _open(rule: ConsistencyRule, name: str, bound: str, reason: str, *, skipped: bool = False) -> Check:
    return Check(name, "skipped" if skipped else "unanswered", None, 0, None, bound, reason, rule.metric)


@dataclass(frozen=True, slots=True)
class ToolDriftSeen:
    """The state that the last look at the source of a run's tools saw.

    `at_risk` are the changes since the run's tools that may break calls, each in words. `note` says when that was.
    """

    at_risk: tuple[str, ...]
    note: str


def check_tool_drift(seen: ToolDriftSeen | None) -> Check:
    """Return the check that no change at the source of the run's tools breaks calls; unanswered where none is known."""
    name, bound = "tool drift", "no breaking change at the source"
    if seen is None:
        reason = "No source of the run's tools was read yet: keep one on the page of their registry."
        return Check(name, "unanswered", None, 0, None, bound, reason)
    if not seen.at_risk:
        return Check(name, "passed", None, 0, None, bound, note=seen.note)
    more = f", and {len(seen.at_risk) - 1:,} more" if len(seen.at_risk) > 1 else ""
    reason = f"The tools of the run are not those of their source any more: {seen.at_risk[0]}{more}."
    return Check(name, "failed", None, 0, None, bound, reason, note=seen.note)


_METRIC = "recovery"
_RIGHT = 1.0
_NOT_ASKED = "No tool failed so in this run: not asked."
_WORDS: Mapping[PerFailure, str] = {"tool": "failed tool", "error_class": "error class", "failure": "failure of"}


def check_failures(bound: Bound, cases: CaseTable, policy: UnscoredPolicy) -> Iterator[Check]:
    """Yield the check of each group of failures, by name.

    A group that `overrides` names and that no failure belongs to is skipped, as there is nothing to recover from; where
    no tool failed at all, so is the bound. Cases that no one has scored are a group of their own.
    """
    per = bound.per_failure or "failure"
    groups: dict[str, list[GateCase]] = {}
    for kind, example in _asked(cases, bound):
        for failure in kind.failures:
            known = {} if failure.score is None else {_METRIC: failure.score == _RIGHT}
            one = GateCase(example, {_METRIC: failure.score}, passed=known)
            groups.setdefault(_name(failure, per), []).append(one)
        if not kind.failures:
            groups.setdefault(NOT_KNOWN, []).append(GateCase(example, {_METRIC: None}))
    for group in sorted({*groups, *bound.overrides}) or [""]:
        condition = bound.overrides.get(group, bound.condition)
        name = f"{bound.metric} {condition.subject}{scope_words(bound.where, group, _WORDS[per])}"
        if group not in groups:
            yield Check(name, "skipped", None, 0, None, condition.words, _NOT_ASKED, bound.metric)
            continue
        table = CaseTable.of(groups[group])
        figure = figure_of(bound.statistic, table.tally, _METRIC)
        check = check_figure(name, figure, condition.holds, condition.words, policy, decide_by=bound.decide_by)
        note = "Failures are read from the rule recovery." if bound.metric != _METRIC else ""
        wrong = (each.example for each in groups[group] if each.mark(_METRIC) != 1)
        yield softened(with_examples(replace(check, metric=bound.metric, note=note), wrong), bound.on_fail)


def _asked(cases: CaseTable, bound: Bound) -> Iterator[tuple[GateCase, str]]:
    """Yield each case in which a tool failed, or no one knows whether one did, and its example."""
    holds = [
        bool(kind.failures or (kind.asks(_METRIC) and kind.score(_METRIC) is None))
        and bound.where.items() <= kind.strata.items()
        for kind in cases.kinds
    ]
    if any(holds):
        for example, number in zip(cases.examples, cases.numbers, strict=True):
            if holds[number]:
                yield cases.kinds[number], cases.names[example]


def _name(failure: Failure, per: PerFailure) -> str:
    if per == "failure":
        return f"{failure.tool} {failure.error_class}"
    return failure.tool if per == "tool" else failure.error_class
