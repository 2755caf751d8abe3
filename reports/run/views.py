"""Show the overview of a run, its wrong parameters, its source's rewards, and what baseline agents score."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from labeling.agreement.cache import pairs_tallied
from reports.cases.queries import grading_sums, verdict_counts
from reports.costs.queries import spending_shown
from reports.filters.case_filters import LATENT, address_query, choice, text, verdict_column
from reports.gates.page import newest_gate
from reports.matrix.analysis import Matrix
from reports.matrix.queries import counted_matrix
from reports.matrix.state import MatrixState
from reports.public_scores.queries import public_rows
from reports.rates import TOOL_GOAL
from reports.run import table as tables
from reports.run.analysis import VerdictCounts, failure_modes, layers_of, sentence, tag_counts
from reports.run.baseline_agents import baseline_rates, version_asked, version_baseline_agents
from reports.run.failures import failure_rows
from reports.run.findings import KIND_WORDS, KINDS, ArgumentRow
from reports.run.guard import guard_shown
from reports.run.header import RunHead, graded, run_head
from reports.run.overreach import grading_overreach
from reports.run.queries import (
    errored_in,
    grading_arguments,
    grading_findings,
    grading_noise,
    run_readings,
    warnings_of,
)
from reports.run.recorded import REWARDS, recorded_agreement
from reports.run.table import ARGUMENTS, BASELINE_AGENTS
from reports.run.tools import ToolOrder, ordered_tools, tool_heads, tool_query, tools_of
from reports.trends.page import small_multiples
from toolevals.grading.engine.case_findings import FAILED_BY
from toolevals.grading.engine.grader_catalog import OUTCOME_COUNTS
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.presentation.numbers import score_words, track_start
from toolevals.runs.aggregates.run_rows import deciding_of, stale_reasons
from toolevals.runs.models import Grading
from toolevals.runs.rereading.results import grading_reread
from toolevals.workspace.models import Job, JobState
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.tables import table_file

# The worst; the rest is one click away.
MOST_TOOLS, MOST_FAILED_BY = 6, 12


@require_safe
def run_overview(request: ProjectRequest, number: int) -> HttpResponse:
    """Show a run, or how far it is while nothing is graded yet. Where its file was refused, lead to the job."""
    try:
        head = run_head(request, number, "run")
    except Http404:
        if (job := _refused(request)) is None:
            raise
        return redirect("workspace:job", request.project.slug, job.pk)
    if head.grading is None:
        return render(request, "reports/run_waiting.html", {"head": head, "run": head.run, "job": head.run.job})
    return render(
        request, "reports/run.html", {"head": head, "run": head.run, **_analyses(request, head, head.grading)}
    )


def _refused(request: ProjectRequest) -> Job | None:
    """Return the newest job that failed and whose outcome would have been at this address."""
    failed = Job.objects.of_project(request.project).filter(state=JobState.FAILED, result_path=request.path)
    return failed.order_by("-created_at").first()


def _job_at_work(run: Any) -> Job | None:
    """Return the job of a newer grading than the one that is shown, while it is under way."""
    if run.newest_grading == run.grading_id:
        return None
    return Job.objects.open().filter(gradings=run.newest_grading).with_progress().first()


def _job_failed(run: Any) -> Job | None:
    """Return the job of a newer grading than the one that is shown if it failed."""
    if run.newest_grading == run.grading_id:
        return None
    return Job.objects.filter(gradings=run.newest_grading, state=JobState.FAILED).with_progress().first()


def _analyses(request: ProjectRequest, head: RunHead, grading: Grading) -> dict[str, Any]:
    counts = verdict_counts(grading)
    layers = layers_of(counts, sums := grading_sums(grading))
    modes = failure_modes(counts.get("mode", {}))
    matrix = counted_matrix(grading, MatrixState())
    findings = grading_findings(grading, counts, sums)
    return {
        "layers": layers,
        "outcome_counts": OUTCOME_COUNTS,
        "warnings": warnings_of(grading, counts),
        "decided": deciding_of(counts),
        "noise": score_words(
            grading_noise(grading, actor=request.user, begin=True),
            None if head.run.baseline_agent else layers.outcome.rate.value,
        ),
        "noise_at": pairs_tallied(head.version.dataset).counted_at,
        "reread": None if head.run.baseline_agent else grading_reread(grading),
        "layers_track_start": track_start([row.rate.low for row in layers.rows if row.rate.low is not None]),
        "sentence": sentence(layers, modes),
        "confusions": matrix.confusions,
        "modes": modes,
        "failures": failure_rows(grading, modes, layers.outcome.rate.total, sums.get("outcome")),
        "spending": spending_shown(grading, layers.outcome.rate.passed),
        "baseline_agents": () if head.run.baseline_agent else version_baseline_agents(head.version),
        "public": () if head.run.baseline_agent else public_rows(head.run.agent, without=head.run),
        "multiples": small_multiples(head.run),
        "stale": stale_reasons([head.run]).get(head.run.pk, ""),
        "failed": counts.get("outcome", {}).get("failed", 0),
        "errored": errored_in(grading, counts),
        "gate": newest_gate(head.run, grading.pk),
        "job": _job_at_work(head.run),
        "job_failed": _job_failed(head.run),
        "tags": tag_counts(counts.get("tag", {})),
        "overreach": grading_overreach(grading),
        "readings": run_readings(head.run),
        "latent": counts.get("latent", {}).get(LATENT, 0),
        "guard": guard_shown(
            head.run, grading, findings["guard"], offers=head.is_newest and not head.run.baseline_agent
        ),
        **_tools(request, head, matrix),
    }


def _tools(request: ProjectRequest, head: RunHead, matrix: Matrix) -> dict[str, Any]:
    """Return the table of tools: the first ones in the order that is asked for, or all of them."""
    table = tools_of(matrix)
    order = choice(ToolOrder, request.GET, "sort", ToolOrder.F1)
    all_tools = request.GET.get("tools") == "all"
    rows = ordered_tools(table.rows, order)[: None if all_tools else MOST_TOOLS]
    rates = [rate for row in rows if row.averaged for rate in (row.precision, row.recall)]
    return {
        "tools": table,
        "tool_rows": rows,
        "tools_left": len(table.rows) - len(rows),
        "tools_order": order,
        "tool_heads": tool_heads(order, all_tools=all_tools, grading=head.grading_number),
        "query_all_tools": tool_query(order, all_tools=True, grading=head.grading_number),
        "tools_track_start": track_start([rate.low for rate in rates if rate.low is not None]),
        "tool_goal": TOOL_GOAL,
    }


ROWS_AT_FIRST = 100


@require_safe
def arguments(request: ProjectRequest, number: int) -> HttpResponse:
    """Show the parameters, most often wrong first; each count leads to its cases."""
    head = run_head(request, number, "arguments")
    if head.grading is None:
        return render(request, "reports/run_waiting.html", {"head": head, "run": head.run, "job": head.run.job})
    tool = text(request.GET, "tool")
    rows = grading_arguments(head.grading, tool)
    shown = rows if request.GET.get("rows") == "all" else rows[:ROWS_AT_FIRST]
    counts = verdict_counts(head.grading)
    verdicts = counts.get("arguments", {})
    own = {"tool": tool, "grading": head.grading_number or ""}
    context = {
        "head": head,
        "run": head.run,
        "rows": [(row, _cells(head, row)) for row in shown],
        "left": len(rows) - len(shown),
        "tool": tool,
        "kinds": [KIND_WORDS[kind] for kind in KINDS],
        "lost": verdicts.get("failed", 0),
        "compared": verdicts.get("failed", 0) + verdicts.get("passed", 0),
        "query": address_query(own),
        "query_all": address_query(own | {"rows": "all"}),
        **({} if tool else _ways_of_failing(head.grading, counts)),
    }
    return render(request, "reports/arguments.html", context)


def _ways_of_failing(grading: Grading, counts: VerdictCounts) -> dict[str, Any]:
    """Return how cases failed by tool, and which were wrong tools and arguments."""
    findings = grading_findings(grading, counts)
    failed_by = findings["failed_by"]
    totals = {row.kind: row for row in failed_by.kinds}
    return {
        "findings": findings,
        "failed": counts.get("outcome", {}).get("failed", 0),
        "failed_by_kinds": FAILED_BY,
        "failed_by_rows": failed_by.tools[:MOST_FAILED_BY],
        "failed_by_left": max(0, len(failed_by.tools) - MOST_FAILED_BY),
        "failed_by_totals": [totals.get(kind) for kind in FAILED_BY],
    }


@require_safe
def arguments_csv(request: ProjectRequest, number: int) -> StreamingHttpResponse:
    """Send the parameters, as the page has them."""
    grading = graded(run_head(request, number, "arguments"))
    rows = grading_arguments(grading, text(request.GET, "tool"))
    return table_file(f"run-{number}-arguments", ARGUMENTS, rows)


def _cells(head: RunHead, row: ArgumentRow) -> list[tuple[int, str]]:
    """Return the count of each kind and the address query of its cases; "" where there are none."""
    of_row: dict[str, Any] = {"tool": row.tool, "parameter": row.argument, "grading": head.grading_number or ""}
    return [(row.counts[kind], address_query(of_row | {"fault": kind}) if row.counts[kind] else "") for kind in KINDS]


@require_safe
def recorded(request: ProjectRequest, number: int) -> HttpResponse:
    """Show the table of one verdict by recorded reward; each number opens its cases."""
    head = run_head(request, number, "recorded")
    if head.grading is None:
        return render(request, "reports/run_waiting.html", {"head": head, "run": head.run, "job": head.run.job})
    column = verdict_column(request.GET, "column")
    context = {
        "head": head,
        "run": head.run,
        "agreement": recorded_agreement(head.grading, column),
        "columns": VERDICT_NAMES,
        "rewards": REWARDS.items(),
        "query": address_query({"column": column, "grading": head.grading_number or ""}),
    }
    return render(request, "reports/recorded.html", context)


@require_safe
def recorded_csv(request: ProjectRequest, number: int) -> StreamingHttpResponse:
    """Send the table, a row for each status and kind of reward."""
    grading = graded(run_head(request, number, "recorded"))
    agreement = recorded_agreement(grading, verdict_column(request.GET, "column"))
    return table_file(f"run-{number}-recorded", tables.RECORDED, agreement.cells)


@require_safe
def baseline_agents(request: ProjectRequest, dataset: str, version: str) -> HttpResponse:
    """Show the baseline agents of a version, each rate opening its run."""
    version_row = version_asked(request, dataset, version)
    context = {
        "dataset": version_row.dataset,
        "version": version_row,
        "baseline_agents": version_baseline_agents(version_row),
        "outcome_counts": OUTCOME_COUNTS,
    }
    return render(request, "reports/baseline_agents.html", context)


@require_safe
def baseline_agents_csv(request: ProjectRequest, dataset: str, version: str) -> StreamingHttpResponse:
    """Send every rate of every baseline agent of a version."""
    version_row = version_asked(request, dataset, version)
    rates = baseline_rates(version_baseline_agents(version_row))
    return table_file(f"{dataset}-v{version_row.number}-baseline-agents", BASELINE_AGENTS, rates)
