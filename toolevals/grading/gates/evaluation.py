"""A gate held against a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from toolevals.grading.gates.checks import check_figure
from toolevals.grading.gates.conditions import CaseAssertion, Condition
from toolevals.grading.gates.figures import TOOL_STATISTICS, Figure, ToolCounts, figure_of, share_meeting
from toolevals.grading.gates.regressions import check_regressions
from toolevals.grading.gates.rules import Assertion, Bound, Gate
from toolevals.grading.gates.values import Check, GateCase, GateResult, metrics_of, softened


def evaluate_gate(gate: Gate, cases: Sequence[GateCase], baseline: Sequence[GateCase] | None = None) -> GateResult:
    """Return how a run comes out: its cases, and those of the run before it where a regression rule needs them.

    What was not scored never passes. A gate without a check is unanswered.
    """
    checks: list[Check] = []
    for check in _Evaluation(gate, cases, baseline).checks():
        checks.append(check)
        if gate.thresholds.fail_fast and check.status == "failed":
            return GateResult(tuple(checks), stopped=True)
    return GateResult(tuple(checks))


@dataclass(frozen=True, slots=True)
class _Evaluation:
    gate: Gate
    cases: Sequence[GateCase]
    baseline: Sequence[GateCase] | None

    def checks(self) -> Iterator[Check]:
        for bound in self.gate.bounds:
            yield from self._bound(bound)
        for each in self.gate.case_assertions:
            yield self._case_assertion(each)
        for assertion in self.gate.assertions:
            for condition in assertion.conditions:
                yield self._assertion(assertion, condition)
        yield from self._thresholds()
        for rule in self.gate.regressions:
            for check in check_regressions(rule, self.cases, self.baseline):
                yield softened(check, rule.on_fail)

    def _bound(self, bound: Bound) -> Iterator[Check]:
        cases = [case for case in self.cases if bound.where.items() <= case.strata.items()]
        counts = ToolCounts(cases) if bound.statistic in TOOL_STATISTICS else None
        for group, members in _groups(bound, cases):
            if counts is not None:
                figure = counts.figure(bound.statistic, group)
            else:
                figure = figure_of(bound.statistic, members, bound.metric)
            condition = bound.overrides.get(group, bound.condition) if group else bound.condition
            name = f"{bound.metric} {condition.subject}{_of(bound, group)}"
            check = self._check(name, figure, condition, bound)
            yield softened(check, bound.on_fail)

    def _check(self, name: str, figure: Figure, condition: Condition, bound: Bound) -> Check:
        policy = self.gate.unscored
        return check_figure(name, figure, condition.holds, condition.words, policy, decide_by=bound.decide_by)

    def _case_assertion(self, assertion: CaseAssertion) -> Check:
        condition = assertion.condition

        def meets(score: float) -> bool:
            return condition.holds(score) is True

        share = Condition("share", ">=", assertion.share)
        figure = share_meeting(meets, self.cases, condition.subject)
        words = f"{condition.words} in at least {assertion.share * 100:g}% of cases"
        return check_figure(str(assertion), figure, share.holds, words, self.gate.unscored)

    def _assertion(self, assertion: Assertion, condition: Condition) -> Check:
        figure = figure_of(condition.subject, self.cases, assertion.template)
        name = f"{assertion.template or 'all metrics'} {condition.subject}"
        check = check_figure(name, figure, condition.holds, condition.words, self.gate.unscored)
        return softened(check, assertion.on_fail)

    def _thresholds(self) -> Iterator[Check]:
        thresholds = self.gate.thresholds
        rates = dict(thresholds.overrides)
        if thresholds.default_pass_rate is not None:
            rates = dict.fromkeys(metrics_of(self.cases), thresholds.default_pass_rate) | rates
        for metric, rate in sorted(rates.items()):
            condition = Condition("pass_rate", ">=", rate)
            figure = figure_of("pass_rate", self.cases, metric)
            yield check_figure(f"{metric} pass_rate", figure, condition.holds, condition.words, self.gate.unscored)
        if thresholds.default_pass_rate is not None and not rates:
            bound = f">= {thresholds.default_pass_rate:g}"
            yield Check(
                "pass_rate", "unanswered", None, 0, None, bound, "No case has a metric: check that graders ran."
            )


def _groups(bound: Bound, cases: Sequence[GateCase]) -> Iterable[tuple[str, Sequence[GateCase]]]:
    """Return the groups that a bound is about: all cases under an empty name, or each tool or value of the stratum.

    A group that has an override is there even without cases, so that a bound on a tool that vanished is not forgotten.
    """
    if not (bound.per_tool or bound.per_stratum):
        return [("", cases)]
    groups: dict[str, list[GateCase]] = {name: [] for name in bound.overrides}
    for case in cases:
        if name := case.tool if bound.per_tool else case.strata.get(bound.per_stratum, ""):
            groups.setdefault(name, []).append(case)
    return sorted(groups.items()) or [("", ())]


def _of(bound: Bound, group: str) -> str:
    parts = [f"{name} {value}" for name, value in sorted(bound.where.items())]
    if group:
        parts.append(f"tool {group}" if bound.per_tool else f"{bound.per_stratum} {group}")
    return f" ({', '.join(parts)})" if parts else ""
