"""Holds a gate against a run.

Tell what is to be read next to a check and decides nothing: who judged, what the best baseline agent scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from toolevals.grading.gates.case_table import CaseTable, Tally, published_sources, with_groups
from toolevals.grading.gates.checks import (
    ToolDriftSeen,
    check_consistency,
    check_failures,
    check_figure,
    check_tool_drift,
)
from toolevals.grading.gates.conditions import CaseAssertion, Condition
from toolevals.grading.gates.metrics import Figure, ToolCounts, figure_of, share_meeting
from toolevals.grading.gates.regressions import PairedRuns, check_regressions
from toolevals.grading.gates.results import (
    JUDGED,
    NOT_KNOWN,
    PUBLISHED_JUDGES,
    PUBLISHED_METRICS,
    Check,
    GateCase,
    GateResult,
    Measure,
    metrics_of,
    scope_words,
    softened,
    with_examples,
)
from toolevals.grading.gates.rules import (
    MEASURED_STATISTICS,
    TOOL_STATISTICS,
    Assertion,
    Bound,
    ConsistencyRule,
    Gate,
    RegressionRule,
)
from toolevals.grading.values.verdicts import JudgedVerdict

# Of a published name whose judge was asked about what rules leave unscored alone.
BY_RULES = "Where rules leave no question, they answer."
_ANSWERED_BY = {"result_use": "result_groundedness", "recovery": "trajectory_recovery"}
# So much of an error is quoted.
_LONGEST = 300


def with_notes(result: GateResult, notes: Mapping[str, str], rates: Mapping[str, str] | None = None) -> GateResult:
    """Return the result with a note on each check of a metric that has one, under the published name or ours.

    `rates` are notes on the pass rate of a metric over all cases alone.
    """
    return replace(result, checks=tuple(_noted(check, notes, rates or {}) for check in result.checks))


def _noted(check: Check, notes: Mapping[str, str], rates: Mapping[str, str]) -> Check:
    found = [_of(check, notes)]
    if check.name == f"{check.metric} pass_rate":
        found.append(_of(check, rates))
    note = " ".join(filter(None, (check.note, *found)))
    return replace(check, note=note) if note else check


def _of(check: Check, notes: Mapping[str, str]) -> str:
    return notes.get(check.metric) or notes.get(PUBLISHED_METRICS.get(check.metric, ""), "")


def with_source(check: Check, sources: Mapping[str, str]) -> Check:
    """Return the check of a published name that a judge may answer with a note on who answers it here."""
    judge = PUBLISHED_JUDGES.get(check.metric)
    if judge is None:
        return check
    source = sources[check.metric]
    words = f"Read from the rule {source}: its judge was not asked."
    if source == judge:
        words = f"Read from the judge {judge.removeprefix(JUDGED)}."
    return replace(check, note=f"{words} {check.note}".strip())


def with_judge(check: Check, sources: Mapping[str, str]) -> Check:
    """Return an unanswered check of a layer that reads prose with the judge that answers what its rules leave open."""
    judge = _ANSWERED_BY.get(sources.get(check.metric, check.metric))
    if check.status != "unanswered" or judge is None:
        return check
    words = f"Rules score only what they know: the judge {judge} answers the rest."
    return replace(check, note=f"{check.note} {words}".strip())


def with_errors(check: Check, errored: str) -> Check:
    """Return an unanswered check with what is said of the run's errored cases."""
    return replace(check, note=f"{check.note} {errored}".strip()) if check.status == "unanswered" and errored else check


def errored_note(count: int, first: str) -> str:
    """Return how many cases of a run are errored, with the words of the first; nothing where none is."""
    if not count:
        return ""
    words = " ".join(first.split()).removesuffix(".")
    shown = f"{words[:_LONGEST]} …" if len(words) > _LONGEST else words
    cases = "1 case is errored, and says" if count == 1 else f"{count:,} cases are errored, and the first says"
    return f"{cases}: {shown}."


def judge_notes(judges: Iterable[tuple[str, str, bool]]) -> dict[str, str]:
    """Return a note for each metric of a judge whose model is an alias, by (rubric, model, whether it is pinned)."""
    return {
        f"{JUDGED}{rubric}": f"The judge's model {model} is not pinned: the same answers may be judged otherwise later."
        for rubric, model, pinned in judges
        if not pinned
    }


def judges_in(verdicts: Iterable[JudgedVerdict]) -> set[tuple[str, str, bool]]:
    """Return (rubric, model, whether it is pinned) of the judges that were asked."""
    return {(verdict.rubric, verdict.model, verdict.pinned) for verdict in verdicts if verdict.model}


def baseline_agent_note(share: float, name: str) -> str:
    """Return the note that says what a baseline agent scores, to be read next to a rate."""
    return f"Best baseline agent: {share:.1%} ({name})."


@dataclass(frozen=True, slots=True)
class Evidence:
    """The cases that a gate is applied to: a run's, those of the run before it, those of a consistency slice.

    The run before is needed by regression rules only. The slice is looked at for a release candidate only: several
    trials of each example are dear.
    """

    cases: CaseTable
    baseline: CaseTable | None = None
    consistency: CaseTable | None = None
    release_candidate: bool = False
    # What the slice is called where it comes from: a run with its subject, or a file.
    consistency_name: str = ""
    # How many cases of the run are errored, and what the first says, as a sentence: it stands at unanswered checks.
    errored: str = ""
    # What is known of the source of the run's tools; None where that is nothing.
    tool_drift: ToolDriftSeen | None = None


# Told before each rule how many are decided, of how many; what it raises ends the deciding.
Progress = Callable[[int, int], None]


def evaluate_gate(gate: Gate, cases: Iterable[GateCase], baseline: Iterable[GateCase] | None = None) -> GateResult:
    """Return how a run comes out that is no release candidate: see `hold_gate`."""
    return hold_gate(gate, Evidence(CaseTable.of(cases), None if baseline is None else CaseTable.of(baseline)))


def hold_gate(gate: Gate, evidence: Evidence, progress: Progress = lambda *_: None) -> GateResult:
    """Return how a run comes out.

    What was not scored never passes. A gate without a check is unanswered.
    """
    checks: list[Check] = []
    held = _Evaluation(gate, evidence)
    rules = list(held.rules())
    for done, rule in enumerate(rules):
        progress(done, len(rules))
        for check in rule:
            told = with_judge(with_source(check, held.sources), held.sources)
            checks.append(with_errors(told, evidence.errored))
            if gate.thresholds.fail_fast and check.status == "failed":
                return GateResult(tuple(checks), stopped=True)
    return GateResult(tuple(checks))


def _fails(kind: GateCase, metric: str | None, meets: Callable[[float], bool] | None = None) -> bool:
    """Return whether a case fails a metric (any metric where it is None), or has no score of it.

    It fails where its score does not meet a condition; without one, where it did not pass.
    """
    scores = ((kind.mark if meets is None else kind.score)(name) for name in kind.asked(metric))
    return any(score is None or not (score if meets is None else meets(score)) for score in scores)


class _Evaluation:
    def __init__(self, gate: Gate, evidence: Evidence) -> None:
        self.gate = gate
        self.evidence = evidence
        before = evidence.baseline if gate.regressions else None
        # Both runs of a comparison are read from the same source; the slice stands alone.
        self.sources = published_sources(evidence.cases, before)
        self.cases = with_groups(self._narrowed(evidence.cases, self.sources), gate.groups)
        self.runs = None
        if before is not None:
            self.runs = PairedRuns(with_groups(self._narrowed(before, self.sources), gate.groups), self.cases)

    def _narrowed(self, cases: CaseTable, sources: Mapping[str, str]) -> CaseTable:
        """Return the cases without what no rule looks at, so that more of them are alike."""
        has_tools, strata = self.gate.looks_at_tools, self.gate.strata
        has_failures = any(bound.per_failure for bound in self.gate.bounds)

        def narrowed(kind: GateCase) -> GateCase:
            kept = {name: value for name, value in kind.strata.items() if name in strata}
            tools = (kind.tool, kind.called) if has_tools else ("", "")
            return GateCase(
                "",
                kind.scores,
                tool=tools[0],
                called=tools[1],
                strata=kept,
                passed=kind.passed,
                failures=kind.failures if has_failures else (),
                sources=sources,
                only_named=kind.only_named,
            )

        return cases.merged(narrowed)

    def rules(self) -> Iterator[Iterable[Check]]:
        """Yield the checks of each rule, decided as they are asked for."""
        yield from (
            check_failures(bound, self.cases, self.gate.unscored) if bound.per_failure else self._bound(bound)
            for bound in self.gate.bounds
        )
        yield from (self._case_assertion(each) for each in self.gate.case_assertions)
        for assertion in self.gate.assertions:
            yield from (self._assertion(assertion, condition) for condition in assertion.conditions)
        yield self._thresholds()
        yield from (self._regressions(rule) for rule in self.gate.regressions)
        yield from (self._consistency(rule) for rule in self.gate.consistency)
        if (on_fail := self.gate.tool_drift) is not None:
            yield (softened(check_tool_drift(self.evidence.tool_drift), on_fail),)

    def _bound(self, bound: Bound) -> Iterator[Check]:
        kinds = self.cases.kinds
        taken = [bound.where.items() <= kind.strata.items() for kind in kinds]
        counts = None
        if bound.statistic in TOOL_STATISTICS:
            counts = ToolCounts(self._tally(["" if is_taken else None for is_taken in taken]).get("", _nobody(kinds)))
        groups = [_group(bound, kind) if is_taken else None for kind, is_taken in zip(kinds, taken, strict=True)]
        tallies = self._tally(groups)
        at_fault = _Named(self.cases, lambda: list(_faults(bound, kinds, taken, groups)))
        for group in _groups(bound, tallies):
            if counts is not None:
                figure = counts.figure(bound.statistic, group)
            else:
                figure = figure_of(bound.statistic, tallies.get(group, _nobody(kinds)), bound.metric)
            condition = bound.overrides.get(group, bound.condition) if group else bound.condition
            scope = scope_words(bound.where, group, "tool" if bound.per_tool else bound.per_stratum)
            name = f"{bound.metric} {condition.subject}{scope}"
            check = check_figure(
                name, figure, condition.holds, condition.words, self.gate.unscored, decide_by=bound.decide_by
            )
            if measure := MEASURED_STATISTICS.get(bound.statistic):
                names = self._dear(measure, condition, [each == group for each in groups], check)
            else:
                names = at_fault.of(group)
            yield softened(with_examples(replace(check, metric=bound.metric), names), bound.on_fail)

    def _tally(self, groups: Sequence[str | None]) -> Mapping[str, Tally]:
        """Return the tally of each group, by the group of each kind; None is in no group."""
        if groups and all(group == "" for group in groups):
            return {"": self.cases.tally}
        return self.cases.tally.grouped(groups)

    def _case_assertion(self, assertion: CaseAssertion) -> Iterator[Check]:
        condition = assertion.condition

        def meets(score: float) -> bool:
            return condition.holds(score) is True

        share = Condition("share", ">=", assertion.share)
        figure = share_meeting(meets, self.cases.tally, condition.subject)
        words = f"{condition.words} in at least {assertion.share * 100:g}% of cases"
        check = check_figure(str(assertion), figure, share.holds, words, self.gate.unscored)
        yield with_examples(replace(check, metric=condition.subject), self._failing(condition.subject, meets=meets))

    def _assertion(self, assertion: Assertion, condition: Condition) -> Iterator[Check]:
        name = f"{assertion.template or 'all metrics'} {condition.subject}"
        figure = figure_of(condition.subject, self.cases.tally, assertion.template)
        yield softened(self._of_metric(name, figure, condition, assertion.template), assertion.on_fail)

    def _of_metric(self, name: str, figure: Figure, condition: Condition, metric: str | None) -> Check:
        check = check_figure(name, figure, condition.holds, condition.words, self.gate.unscored)
        names = self._failing(metric)
        if measure := MEASURED_STATISTICS.get(condition.subject):
            asked = [metric is None or kind.asks(metric) for kind in self.cases.kinds]
            names = self._dear(measure, condition, asked, check)
        return with_examples(replace(check, metric=metric or ""), names)

    def _dear(self, measure: Measure, condition: Condition, wanted: Sequence[bool], check: Check) -> Iterator[str]:
        """Yield the examples whose cases took what is not asked for; where that leaves it open, the unknown ones."""

        def meets(taken: float) -> bool:
            return condition.holds(taken) is True

        return self.cases.missing(measure, wanted, meets, unknown=check.status == "unanswered")

    def _failing(self, metric: str | None, *, meets: Callable[[float], bool] | None = None) -> Iterator[str]:
        """Yield the examples of the cases that fail a metric, or have no score of it."""
        faults = [("",) if _fails(kind, metric, meets) else () for kind in self.cases.kinds]
        yield from self.cases.named(faults).get("", ())

    def _thresholds(self) -> Iterator[Check]:
        thresholds = self.gate.thresholds
        rates = dict(thresholds.overrides)
        if thresholds.default_pass_rate is not None:
            rates = dict.fromkeys(metrics_of(self.cases.kinds), thresholds.default_pass_rate) | rates
        for metric, rate in sorted(rates.items()):
            figure = figure_of("pass_rate", self.cases.tally, metric)
            yield self._of_metric(f"{metric} pass_rate", figure, Condition("pass_rate", ">=", rate), metric)
        if thresholds.default_pass_rate is not None and not rates:
            bound = f">= {thresholds.default_pass_rate:g}"
            yield Check(
                "pass_rate", "unanswered", None, 0, None, bound, "No case has a metric: check that graders ran."
            )

    def _regressions(self, rule: RegressionRule) -> Iterator[Check]:
        return (softened(check, rule.on_fail) for check in check_regressions(rule, self.runs))

    def _consistency(self, rule: ConsistencyRule) -> Iterator[Check]:
        cases = self.evidence.consistency
        if cases is not None:
            cases = cases.reading(published_sources(cases))
        check = check_consistency(rule, cases, asked=self.evidence.release_candidate)
        if self.evidence.consistency_name and self.evidence.release_candidate:
            check = replace(check, note=f"The slice: {self.evidence.consistency_name}.")
        yield softened(check, rule.on_fail)


def _group(bound: Bound, kind: GateCase) -> str | None:
    """Return the group of a bound that a case belongs to, None where it is in none.

    The cases that no one has scored where no one knows their tool are a group of their own.
    """
    if not (bound.per_tool or bound.per_stratum):
        return ""
    name = kind.tool if bound.per_tool else kind.strata.get(bound.per_stratum, "")
    if bound.per_tool and not name and kind.asks(bound.metric) and kind.score(bound.metric) is None:
        return NOT_KNOWN
    return name or None


def _groups(bound: Bound, tallies: Mapping[str, Tally]) -> Sequence[str]:
    """Return the groups that a bound is about, by name; an empty one is all cases.

    A group that has an override is never forgotten, though a tool may have vanished.
    """
    if not (bound.per_tool or bound.per_stratum):
        return [""]
    return sorted({*tallies, *bound.overrides}) or [""]


def _nobody(kinds: Sequence[GateCase]) -> Tally:
    return Tally(kinds, {})


class _Named:
    """The names of examples by group, looked for once, where one is asked for."""

    def __init__(self, cases: CaseTable, groups: Callable[[], Sequence[Sequence[str]]]) -> None:
        self._names = cache(lambda: cases.named(groups()))

    def of(self, group: str) -> Iterator[str]:
        yield from self._names().get(group, ())


def _faults(
    bound: Bound, kinds: Sequence[GateCase], taken: Sequence[bool], groups: Sequence[str | None]
) -> Iterator[Sequence[str]]:
    """Yield the groups that each kind of case keeps from passing."""
    for kind, is_taken, group in zip(kinds, taken, groups, strict=True):
        if bound.statistic in TOOL_STATISTICS:
            # A tool was expected or called, and not both.
            mistaken = is_taken and kind.tool and kind.tool != kind.called
            yield (kind.tool, kind.called) if mistaken else ()
        else:
            yield (group,) if group is not None and _fails(kind, bound.metric) else ()
