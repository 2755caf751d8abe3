"""Read rows of metrics: of one grading, of several, and of one case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet, Value
from django.db.models.functions import Substr

from reports.analyses.metrics import MetricRow, MetricTotals, metric_rows
from reports.analyses.rates import rate
from reports.analyses.trend import RunFacts, Trend, TrendRow, series_of
from toolevals.grading.engine.case_metrics import METRICS, case_metrics
from toolevals.grading.engine.compiled import compile_case
from toolevals.grading.reading.examples import first_words
from toolevals.grading.values import Expectation, Transcript
from toolevals.grading.values.verdicts import CaseGrade as Grade
from toolevals.grading.values.verdicts import Verdict
from toolevals.registry.tool_lists import tools_in
from toolevals.runs.counts.case_values import measured_case, metric_names
from toolevals.runs.counts.packed_cases import LETTERS
from toolevals.runs.models import CaseGrade, Grading, MetricCount
from toolevals.runs.queries import tools_offered

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
