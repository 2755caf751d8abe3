"""Read the metrics of gradings and cases, and work out their means next to the rates of the verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet, Value
from django.db.models.functions import Substr

from reports.rates import Rate, rate
from reports.trends.analysis import RunFacts, Trend, TrendRow, series_of
from toolevals.grading.engine.case_metrics import METRICS, case_metrics
from toolevals.grading.engine.compiled import compile_case
from toolevals.grading.reading.examples import first_words
from toolevals.grading.values import Expectation, Transcript
from toolevals.grading.values.verdicts import CaseGrade as Grade
from toolevals.grading.values.verdicts import Verdict
from toolevals.json_types import JsonMapping
from toolevals.registry.tool_lists import tools_in
from toolevals.runs.aggregates.packed_cases import LETTERS, measured_case, metric_names
from toolevals.runs.grading.policies import guards_of
from toolevals.runs.models import CaseGrade, Grading, MetricCount
from toolevals.runs.queries import tools_offered


@dataclass(frozen=True, slots=True)
class MetricTotals:
    """The counts of one metric in one grading; `mean` is over `examples`, None where nothing was scored."""

    passed: int
    failed: int
    unscored: int
    errored: int
    mean: float | None
    low: float | None
    high: float | None
    examples: int


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric in one grading. The value of `rate` is the mean of the cases' values; it counts those that pass."""

    name: str
    version: str
    totals: MetricTotals

    @property
    def rate(self) -> Rate:
        """The mean with its interval, and how many of the scored cases passed."""
        found = self.totals
        return Rate(found.passed, found.passed + found.failed, found.mean, found.low, found.high, found.examples)

    @property
    def failed(self) -> int:
        return self.totals.failed

    @property
    def unscored(self) -> int:
        return self.totals.unscored

    @property
    def errored(self) -> int:
        return self.totals.errored

    @property
    def examples(self) -> int:
        """Return how many examples have a scored trial."""
        return self.totals.examples

    @property
    def goal(self) -> float:
        """The value from which a case passes."""
        metric = METRICS.get(self.name)
        return metric.passes_at if metric else 1.0

    @property
    def sentence(self) -> str:
        """Return what it measures; what it needs, where no case has that."""
        metric = METRICS.get(self.name)
        if metric is None:
            return ""
        return metric.sentence if self.rate.total or not metric.needs else f"{metric.sentence} {metric.needs}"


def metric_rows(graders: Iterable[JsonMapping], counts: Mapping[str, MetricTotals]) -> Sequence[MetricRow]:
    """Return a row for each metric that was counted, in the order of the grading's graders."""
    return tuple(
        MetricRow(grader["name"], str(grader["version"]), counts[grader["name"]])
        for grader in graders
        if grader["name"] in counts
    )


TOTALS: Final = ("passed", "failed", "unscored", "errored", "mean", "low", "high", "examples")
_OTHER_VERSION = "Another version of the metric gave this value. Re-grade the run to see why."


def metrics_of(grading: Grading) -> Sequence[MetricRow]:
    """Return what each metric of a grading came to. One query."""
    return metric_rows(grading.graders, _totals([grading.pk]).get(grading.pk, {}))


def metric_trend(runs: Sequence[RunFacts]) -> Trend:
    """Return the mean of each metric over runs, oldest first. One query."""
    totals = _totals([run.grading for run in runs if run.grading])
    rows = [
        TrendRow(
            run,
            {name: MetricRow(name, "", by_metric[name]).rate if name in by_metric else rate(0, 0) for name in METRICS},
        )
        for run in runs
        if run.grading and (by_metric := totals.get(run.grading, {}))
    ]
    return Trend(tuple(rows), tuple(series_of(rows, tuple(METRICS), lambda name: METRICS[name].passes_at)))


def cases_of_status(cases: QuerySet[CaseGrade], grading: Grading, metric: str, status: str) -> QuerySet[CaseGrade]:
    """Return the cases in which a metric has a status; none where the grading does not know the metric."""
    names = metric_names(grading.graders)
    if metric not in names:
        return cases.none()
    letter = Substr("measured", names.index(metric) + 1, 1)
    return cases.annotate(metric_letter=letter).filter(metric_letter=Value(LETTERS[status]))


def values_of(grading: Grading, measured: str) -> list[float | None]:
    """Return a case's value of every metric, in the order of METRICS."""
    values = measured_case(measured, metric_names(grading.graders)).metrics
    return [values[name][1] if name in values else None for name in METRICS]


def case_verdicts(case: CaseGrade, expectation: Expectation, transcript: Transcript | None) -> dict[str, Verdict]:
    """Return every metric of a case as it was graded, with its reason.

    Values are kept and reasons are not: they are found again, where the same version of the metric still gives them.
    """
    names = metric_names(case.grading.graders)
    kept = measured_case(case.measured, names).metrics
    if not kept:
        return {}
    versions = {each["name"]: each["version"] for each in case.grading.graders}
    revision = case.transcript.entry.revision
    tools = tools_offered(tools_in(revision.tools), case.grading.run.agent)
    made = case_metrics(
        compile_case(expectation, tools),
        transcript,
        Grade.from_document(case.detail),
        goal=first_words(revision.input),
        patterns=guards.patterns_in(transcript) if (guards := guards_of(case.grading)) is not None else None,
    )
    return {
        name: Verdict(status, value, _reason(name, versions[name], (status, value), made))
        for name, (status, value) in kept.items()
    }


def _reason(name: str, version: str, kept: tuple[Any, Any], made: dict[str, Verdict]) -> str:
    if name not in made or METRICS[name].version != version:
        return _OTHER_VERSION
    now = made[name]
    # A judge may have answered for an argument in words.
    return now.reason if (now.status, now.value) == kept else ""


def _totals(gradings: Sequence[UUID]) -> dict[UUID, dict[str, MetricTotals]]:
    found: dict[UUID, dict[str, MetricTotals]] = {}
    for count in MetricCount.objects.filter(grading__in=gradings):
        totals = MetricTotals(**{name: getattr(count, name) for name in TOTALS})
        found.setdefault(count.grading_id, {})[count.metric] = totals
    return found
