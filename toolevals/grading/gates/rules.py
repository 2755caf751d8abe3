"""Defines the rules of a gate as values: bounds, assertions, thresholds and regression rules.

Groups metrics that a team reads as one figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import fsum, isfinite
from typing import Literal

from toolevals.grading.gates.conditions import CaseAssertion, Condition
from toolevals.grading.gates.results import Measure, OnFail
from toolevals.grading.values.documents import require_valid
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to
from toolevals.json_types import JsonValue

Aggregate = Literal["mean", "minimum", "maximum"]


@dataclass(frozen=True, slots=True)
class GroupValue:
    """A group's figure, None where none of its metrics has one, and which of them had one and which had not."""

    value: float | None
    scored: tuple[str, ...]
    unscored: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MetricGroup:
    """Metrics by name and how they become one: their weighted mean Σ w·x/Σ w, the least or the greatest of them.

    A metric without a weight weighs 1. Weights matter to the mean alone.
    """

    name: str
    metrics: tuple[str, ...]
    weights: Mapping[str, float] = field(default_factory=dict)
    aggregate: Aggregate = "mean"

    def value(self, figures: Mapping[str, float | None]) -> GroupValue:
        """Return the group's figure from its metrics' figures.

        A metric that is missing, None or not finite is unscored: it is left out, and the weights of the others share
        its place. With none left the group is unscored.
        """
        known = {
            metric: figure
            for metric in self.metrics
            if (figure := figures.get(metric)) is not None and isfinite(figure)
        }
        unscored = tuple(metric for metric in self.metrics if metric not in known)
        return GroupValue(self._aggregated(known) if known else None, tuple(known), unscored)

    def _aggregated(self, known: Mapping[str, float]) -> float:
        if self.aggregate == "minimum":
            return min(known.values())
        if self.aggregate == "maximum":
            return max(known.values())
        whole = fsum(self.weights.get(metric, 1.0) for metric in known)
        return fsum(self.weights.get(metric, 1.0) * figure for metric, figure in known.items()) / whole


def read_group(document: JsonValue) -> MetricGroup:
    """Return the group that a document (see `schemas/metric_group.v1.json`) describes.

    Raises InvalidDocument with every problem by JSON pointer.
    """
    require_valid(document, "metric_group")
    weights = document.get("weights", {})
    problems = [
        Problem(pointer_to(["weights", metric]), "is not one of the group's metrics")
        for metric in weights
        if metric not in document["metrics"]
    ]
    if weights and document.get("aggregate", "mean") != "mean":
        problems.append(Problem("/weights", "matter to the mean alone: leave them out"))
    if problems:
        raise InvalidDocument(problems)
    return MetricGroup(document["name"], tuple(document["metrics"]), weights, document.get("aggregate", "mean"))


RegressionKind = Literal["cases", "paired", "averages"]
Correction = Literal["holm", "benjamini_hochberg", "none"]
DecideBy = Literal["value", "interval"]
PerFailure = Literal["tool", "error_class", "failure"]
# Each tool's own: no score of a case.
TOOL_STATISTICS = ("precision", "recall", "f1")
# What the rule of recovery is called, and the published name that stands for it.
RECOVERY = ("recovery", "trajectory_recovery")
# Those that only ask which cases passed; the others are of the values.
OF_PASSES = frozenset(("pass_rate", "failed_count", "passed_count", "total_count", "total_pass_rate"))
# Of what cases took: no scores either. Runtimes that no one measured are left out, as in the public command line.
RUNTIME_STATISTICS: Mapping[str, Measure] = {"runtime_avg": "latency", "runtime_p95": "latency"}
# Where a case does not say what it took, these are unanswered.
SPENDING_STATISTICS: Mapping[str, Measure] = {"cost": "cost", "tokens": "tokens", "latency_p95": "latency"}
MEASURED_STATISTICS: Mapping[str, Measure] = {**RUNTIME_STATISTICS, **SPENDING_STATISTICS}

# The published gate of the tool-selection pipeline.
DEFAULT_MINIMUMS: Mapping[str, float] = {
    "tool_name_match": 0.95,
    "tool_args_shape_match": 0.97,
    "tool_args_semantic": 0.93,
}


@dataclass(frozen=True, slots=True)
class UnscoredPolicy:
    """The demand on the number of scored cases before they decide.

    At least `minimum_count` cases must be scored. Without `minimum_share` a check passes only where it would whatever
    the unscored cases turned out to be, and fails only where it would so. With it, that share of the cases must be
    scored, and then the scored ones alone decide.
    """

    minimum_share: float | None = None
    minimum_count: int = 1


@dataclass(frozen=True, slots=True)
class Bound:
    """`statistic` of `metric` must meet `condition`, over all cases or one by one for each tool or value of a stratum.

    With `per_failure` it is asked of recovery by the tool that failed, by the class of its error, or by both.

    `overrides` names a tool or value of the stratum with a condition of its own. `where` takes only cases of these
    strata. `decide_by` interval asks the whole 95 % interval to meet the condition, and leaves open what reaches over
    it.
    """

    metric: str
    statistic: str
    condition: Condition
    per_tool: bool = False
    per_stratum: str = ""
    per_failure: PerFailure | None = None
    overrides: Mapping[str, Condition] = field(default_factory=dict)
    where: Mapping[str, str] = field(default_factory=dict)
    decide_by: DecideBy = "value"
    on_fail: OnFail = "error"


@dataclass(frozen=True, slots=True)
class Assertion:
    """Conditions on the statistics of one metric (`template`), or of all metrics together where it is None."""

    template: str | None
    conditions: tuple[Condition, ...]
    on_fail: OnFail = "error"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """A pass rate for every metric that arises, with others for some; `fail_fast` stops at the first failed check."""

    default_pass_rate: float | None = None
    overrides: Mapping[str, float] = field(default_factory=dict)
    fail_fast: bool = False


@dataclass(frozen=True, slots=True)
class RegressionRule:
    """The differences that a run may have from the one before it.

    `cases`: at most `most` examples that passed before may fail now. `paired`: no metric may be worse by the paired
    test at `alpha`, its p-values adjusted by `correction` over all checks of the rule. `averages`: no mean may drop by
    more than `max_drop`.

    Each metric is compared over all examples, or one by one for each tool or value of a stratum; `overrides` gives one
    of these a `most` or `max_drop` of its own. `where` takes only examples of these strata. Groups of fewer than
    `skip_below` examples are skipped. An example that was scored before and that this run does not hold counts as not
    scored now, unless `ignore_removed` leaves it out.
    """

    kind: RegressionKind
    metrics: tuple[str, ...]
    most: int = 0
    alpha: float = 0.05
    correction: Correction = "holm"
    max_drop: float = 0.0
    per_tool: bool = False
    per_stratum: str = ""
    overrides: Mapping[str, float] = field(default_factory=dict)
    where: Mapping[str, str] = field(default_factory=dict)
    skip_below: int = 0
    ignore_removed: bool = False
    on_fail: OnFail = "error"

    @property
    def is_grouped(self) -> bool:
        """Return whether each tool or value of a stratum is compared by itself."""
        return self.per_tool or bool(self.per_stratum)


@dataclass(frozen=True, slots=True)
class ConsistencyRule:
    """Over a slice with several trials of each example, `metric` must pass k times of k with this chance: pass^k."""

    minimum: float
    metric: str = "outcome"
    k: int = 8
    decide_by: DecideBy = "value"
    on_fail: OnFail = "error"


@dataclass(frozen=True, slots=True)
class Gate:
    """Everything that a run is checked by, in the order in which it is checked."""

    bounds: tuple[Bound, ...] = ()
    case_assertions: tuple[CaseAssertion, ...] = ()
    assertions: tuple[Assertion, ...] = ()
    thresholds: Thresholds = field(default_factory=Thresholds)
    regressions: tuple[RegressionRule, ...] = ()
    unscored: UnscoredPolicy = field(default_factory=UnscoredPolicy)
    # Figures made of several metrics, which every rule may name as if they were one.
    groups: tuple[MetricGroup, ...] = ()
    # Asked of release candidates alone.
    consistency: tuple[ConsistencyRule, ...] = ()
    # What it means that the source of the run's tools lists others by now, which break calls; None: not asked.
    tool_drift: OnFail | None = None

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that have a rule of their own, each once, in their order."""
        named = [
            *(bound.metric for bound in self.bounds if bound.statistic not in TOOL_STATISTICS),
            *(each.condition.subject for each in self.case_assertions),
            *(assertion.template for assertion in self.assertions if assertion.template),
            *self.thresholds.overrides,
        ]
        return tuple(dict.fromkeys(named))

    @property
    def named(self) -> frozenset[str]:
        """Every metric that a rule or a group names."""
        rules = (name for rule in self.regressions for name in rule.metrics)
        groups = (name for group in self.groups for name in group.metrics)
        return frozenset((*self.metrics, *rules, *groups, *(rule.metric for rule in self.consistency)))

    @property
    def is_per_tool(self) -> bool:
        """Return whether a rule looks at each expected tool by itself."""
        return any(bound.per_tool for bound in self.bounds) or any(rule.per_tool for rule in self.regressions)

    @property
    def looks_at_tools(self) -> bool:
        """Return whether a rule asks which tool was expected or called."""
        return self.is_per_tool or any(bound.statistic in TOOL_STATISTICS for bound in self.bounds)

    @property
    def measures(self) -> frozenset[Measure]:
        """Return what rules ask of what cases took."""
        statistics = {bound.statistic for bound in self.bounds}
        statistics |= {each.subject for assertion in self.assertions for each in assertion.conditions}
        return frozenset(MEASURED_STATISTICS[each] for each in statistics & MEASURED_STATISTICS.keys())

    @property
    def looks_at_values(self) -> bool:
        """Return whether a rule asks what cases are worth, and not only which of them passed."""
        statistics = {bound.statistic for bound in self.bounds}
        statistics |= {each.subject for assertion in self.assertions for each in assertion.conditions}
        of_scores = statistics - OF_PASSES - {*TOOL_STATISTICS, *MEASURED_STATISTICS}
        averages = any(rule.kind == "averages" for rule in self.regressions)
        return bool(self.case_assertions or self.groups or of_scores or averages)

    @property
    def strata(self) -> frozenset[str]:
        """The strata that rules ask for."""
        rules: tuple[Bound | RegressionRule, ...] = (*self.bounds, *self.regressions)
        return frozenset(name for rule in rules for name in (rule.per_stratum, *rule.where) if name)


def default_gate(minimums: Mapping[str, float] = DEFAULT_MINIMUMS, *, fail_on_regression: bool = False) -> Gate:
    """Return the published merge gate: a pass rate for each metric, and no regression where asked for.

    `minimums` are by metric; by default tool names .95, shape of the arguments .97, their semantics .93. Raises
    ValueError on a minimum outside 0..1.
    """
    if any(not 0 <= minimum <= 1 for minimum in minimums.values()):
        raise ValueError("a minimum pass rate is between 0 and 1")
    rules = no_regression(tuple(minimums)) if fail_on_regression else ()
    return Gate(bounds=pass_rates(minimums), regressions=rules)


def pass_rates(minimums: Mapping[str, float]) -> tuple[Bound, ...]:
    """Return the bounds that ask a pass rate of each metric."""
    return tuple(
        Bound(metric, "pass_rate", Condition("pass_rate", ">=", minimum)) for metric, minimum in minimums.items()
    )


def no_regression(metrics: tuple[str, ...], *, most: int | None = None) -> tuple[RegressionRule, ...]:
    """Return the rule that no metric is worse by the paired test; with `most` also that so few examples fail now.

    The paired test fails an agent that is as good as before in at most 2.5 % of runs. A limit on single examples finds
    what an equal average hides, but most agents that are as good as before fail a low one: some example always changes.
    """
    if not metrics:
        return ()
    paired = RegressionRule("paired", metrics)
    return (paired,) if most is None else (paired, RegressionRule("cases", metrics, most=most))
