"""Show reliability over trials: curves, groups, variance, compounding errors, and every example's trials."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from reports.cases.queries import grading_layers, verdict_counts
from reports.filters.case_filters import address_query
from reports.reliability import table as tables
from reports.reliability.queries import (
    OTHER_STRATA,
    calculator,
    example_page,
    grading_compounding,
    grading_reliability,
    read_trial_state,
    reliability_chart,
    reliability_sentence,
)
from reports.run.header import RunHead, graded, run_head
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.runs.aggregates.run_rows import deciding_of
from toolevals.runs.models import Grading
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.tables import table_file

# The worst; all of them are in the file.
MOST_GROUPS = 20
# Which examples are listed, by how their scored trials came out.
WAYS = (("", "all"), ("always", "always"), ("sometimes", "sometimes"), ("never", "never"))


@require_safe
def reliability(request: ProjectRequest, number: int) -> HttpResponse:
    """Show what the trials of a run say of its reliability."""
    head = run_head(request, number, "reliability")
    if head.grading is None:
        return render(request, "reports/run_waiting.html", {"head": head, "run": head.run, "job": head.run.job})
    context = {"head": head, "run": head.run, **_steps(request, head.grading), **_trials(request, head, head.grading)}
    return render(request, "reports/reliability.html", context)


def _trials(request: ProjectRequest, head: RunHead, grading: Grading) -> dict[str, Any]:
    state = read_trial_state(request.GET)
    analysis = grading_reliability(grading, head.run.trials, state.k, state.of, state.stratum)
    if analysis is None:
        return {"reliability": None}
    own = state.parameters() | {"grading": head.grading_number or ""}
    tools = analysis.of_kind("tool")
    page = example_page(grading, state)
    return {
        "reliability": analysis,
        "state": state,
        "sentence": reliability_sentence(analysis),
        "chart": {"reliability-chart": reliability_chart(analysis)},
        "tools": tools[:MOST_GROUPS],
        "tools_left": max(len(tools) - MOST_GROUPS, 0),
        "strata": analysis.of_kind(state.stratum) if state.stratum else analysis.of_kind("bucket", "difficulty"),
        "verdicts": VERDICT_NAMES,
        "and_of": f"&{asked}" if (asked := address_query({"of": own["of"], "stratum": state.stratum})) else "",
        "other_strata": OTHER_STRATA,
        "decided": deciding_of(verdict_counts(grading)),
        "page": page,
        "ways": WAYS,
        "query": address_query(own),
        "query_all": address_query(own | {"how": ""}),
        "query_more": address_query(own | {"after": page.more}) if page.more else "",
    }


def _steps(request: ProjectRequest, grading: Grading) -> dict[str, Any]:
    compounding = grading_compounding(grading)
    call = next(row for row in grading_layers(grading).depths if row.name == "equivalence")
    return {"compounding": compounding, "sum": calculator(request.GET, compounding, call.rate.value)}


@require_safe
def reliability_csv(request: ProjectRequest, number: int) -> StreamingHttpResponse:
    """Send pass@k and pass^k of the run, its tools and its strata."""
    head = run_head(request, number, "reliability")
    state = read_trial_state(request.GET)
    analysis = grading_reliability(graded(head), head.run.trials, state.k, state.of, state.stratum)
    return table_file(f"run-{number}-reliability", tables.RELIABILITY, analysis.rows if analysis else ())


@require_safe
def variance_csv(request: ProjectRequest, number: int) -> StreamingHttpResponse:
    """Send how much of the variance of trials lies between examples, and how much within."""
    head = run_head(request, number, "reliability")
    analysis = grading_reliability(graded(head), head.run.trials, of=read_trial_state(request.GET).of)
    return table_file(f"run-{number}-variance", tables.VARIANCE, [analysis and analysis.variance])
