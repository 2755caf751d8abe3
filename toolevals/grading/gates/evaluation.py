"""A gate held against a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from toolevals.grading.gates.cases import with_groups
from toolevals.grading.gates.checks import check_figure
from toolevals.grading.gates.conditions import CaseAssertion, Condition
from toolevals.grading.gates.consistency import check_consistency
from toolevals.grading.gates.figures import Figure, ToolCounts, figure_of, share_meeting
from toolevals.grading.gates.regressions import check_regressions
from toolevals.grading.gates.rules import TOOL_STATISTICS, Assertion, Bound, Gate
from toolevals.grading.gates.values import (
    PASS_MARK,
    Check,
    GateCase,
    GateResult,
    metrics_of,
    scope_words,
    softened,
    with_examples,
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a gate is held against: a run's cases, those of the run before it, those of a consistency slice.

    The run before is needed by regression rules only. The slice is looked at for a release candidate only: several
    trials of each example are dear.
    """

    cases: Sequence[GateCase]
    baseline: Sequence[GateCase] | None = None
    consistency: Sequence[GateCase] | None = None
    release_candidate: bool = False


def evaluate_gate(gate: Gate, cases: Sequence[GateCase], baseline: Sequence[GateCase] | None = None) -> GateResult:
    """Return how a run comes out that is no release candidate: see `hold_gate`."""
    return hold_gate(gate, Evidence(cases, baseline))


def hold_gate(gate: Gate, evidence: Evidence) -> GateResult:
    """Return how a run comes out.

    What was not scored never passes. A gate without a check is unanswered.
    """
    checks: list[Check] = []
    for check in _Evaluation(gate, evidence).checks():
        checks.append(check)
        if gate.thresholds.fail_fast and check.status == "failed":
            return GateResult(tuple(checks), stopped=True)
    return GateResult(tuple(checks))


class _Evaluation:
    def __init__(self, gate: Gate, evidence: Evidence) -> None:
        self.gate = gate
        self.evidence = evidence
        self.cases = with_groups(evidence.cases, gate.groups)

    def checks(self) -> Iterator[Check]:
        for bound in self.gate.bounds:
            yield from self._bound(bound)
        for each in self.gate.case_assertions:
            yield self._case_assertion(each)
        for assertion in self.gate.assertions:
            for condition in assertion.conditions:
                yield self._assertion(assertion, condition)
        yield from self._thresholds()
        yield from self._regressions()
        for rule in self.gate.consistency:
            slice_cases = self.evidence.consistency if self.evidence.release_candidate else ()
            check = check_consistency(rule, slice_cases, asked=self.evidence.release_candidate)
            yield softened(check, rule.on_fail)

    def _bound(self, bound: Bound) -> Iterator[Check]:
        cases = [case for case in self.cases if bound.where.items() <= case.strata.items()]
        counts = ToolCounts(cases) if bound.statistic in TOOL_STATISTICS else None
        for group, members in _groups(bound, cases):
            if counts is not None:
                figure, at_fault = counts.figure(bound.statistic, group), _mistaken(cases, group)
            else:
                figure, at_fault = figure_of(bound.statistic, members, bound.metric), _failing(members, bound.metric)
            condition = bound.overrides.get(group, bound.condition) if group else bound.condition
            scope = scope_words(bound.where, group, "tool" if bound.per_tool else bound.per_stratum)
            name = f"{bound.metric} {condition.subject}{scope}"
            check = check_figure(
                name, figure, condition.holds, condition.words, self.gate.unscored, decide_by=bound.decide_by
            )
            yield softened(with_examples(replace(check, metric=bound.metric), at_fault), bound.on_fail)

    def _case_assertion(self, assertion: CaseAssertion) -> Check:
        condition = assertion.condition

        def meets(score: float) -> bool:
            return condition.holds(score) is True

        share = Condition("share", ">=", assertion.share)
        figure = share_meeting(meets, self.cases, condition.subject)
        words = f"{condition.words} in at least {assertion.share * 100:g}% of cases"
        check = check_figure(str(assertion), figure, share.holds, words, self.gate.unscored)
        return with_examples(
            replace(check, metric=condition.subject), _failing(self.cases, condition.subject, meets=meets)
        )

    def _assertion(self, assertion: Assertion, condition: Condition) -> Check:
        name = f"{assertion.template or 'all metrics'} {condition.subject}"
        figure = figure_of(condition.subject, self.cases, assertion.template)
        return softened(self._of_metric(name, figure, condition, assertion.template), assertion.on_fail)

    def _of_metric(self, name: str, figure: Figure, condition: Condition, metric: str | None) -> Check:
        check = check_figure(name, figure, condition.holds, condition.words, self.gate.unscored)
        return with_examples(replace(check, metric=metric or ""), _failing(self.cases, metric))

    def _thresholds(self) -> Iterator[Check]:
        thresholds = self.gate.thresholds
        rates = dict(thresholds.overrides)
        if thresholds.default_pass_rate is not None:
            rates = dict.fromkeys(metrics_of(self.cases), thresholds.default_pass_rate) | rates
        for metric, rate in sorted(rates.items()):
            figure = figure_of("pass_rate", self.cases, metric)
            yield self._of_metric(f"{metric} pass_rate", figure, Condition("pass_rate", ">=", rate), metric)
        if thresholds.default_pass_rate is not None and not rates:
            bound = f">= {thresholds.default_pass_rate:g}"
            yield Check(
                "pass_rate", "unanswered", None, 0, None, bound, "No case has a metric: check that graders ran."
            )

    def _regressions(self) -> Iterator[Check]:
        if not self.gate.regressions:
            return
        before = self.evidence.baseline
        baseline = None if before is None else with_groups(before, self.gate.groups)
        for rule in self.gate.regressions:
            for check in check_regressions(rule, self.cases, baseline):
                yield softened(check, rule.on_fail)


# The group of those that belong to some tool and nobody knows to which.
NOT_KNOWN = "(not known)"


def _groups(bound: Bound, cases: Sequence[GateCase]) -> Iterable[tuple[str, Sequence[GateCase]]]:
    """Return the groups that a bound is about: all cases under an empty name, or each tool or value of the stratum.

    Two more are never forgotten: a group that has an override, though a tool may have vanished, and the cases that
    nobody has scored where nobody knows their tool.
    """
    if not (bound.per_tool or bound.per_stratum):
        return [("", cases)]
    groups: dict[str, list[GateCase]] = {name: [] for name in bound.overrides}
    for case in cases:
        name = case.tool if bound.per_tool else case.strata.get(bound.per_stratum, "")
        if bound.per_tool and not name and case.asks(bound.metric) and case.score(bound.metric) is None:
            name = NOT_KNOWN
        if name:
            groups.setdefault(name, []).append(case)
    return sorted(groups.items()) or [("", ())]


def _passes(score: float) -> bool:
    return score >= PASS_MARK


def _failing(
    cases: Sequence[GateCase], metric: str | None, *, meets: Callable[[float], bool] = _passes
) -> Iterator[str]:
    """Yield the examples of the cases that fail a metric (any metric where it is None), or have no score of it."""
    for case in cases:
        for name in case.asked(metric):
            score = case.score(name)
            if score is None or not meets(score):
                yield case.example


def _mistaken(cases: Sequence[GateCase], tool: str) -> Iterator[str]:
    """Yield the examples in which a tool was expected or called, and not both."""
    for case in cases:
        if case.tool and case.tool != case.called and tool in (case.tool, case.called):
            yield case.example
