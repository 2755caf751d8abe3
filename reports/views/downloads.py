"""Send tables as CSV files, streamed."""

from __future__ import annotations

from django.http import HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from reports.analyses.modes import failure_modes, tag_counts
from reports.analyses.tools import tools_of
from reports.cases.remarks import remark_rows
from reports.matrix.counted import counted_matrix
from reports.matrix.state import read_matrix_state
from reports.pages.run_header import graded, run_head
from reports.queries.findings import grading_findings
from reports.queries.grading import grading_layers, verdict_counts
from reports.queries.judges import judges_of
from reports.queries.label_noise import grading_noise
from reports.queries.metrics import metrics_of
from reports.queries.overreach import grading_overreach
from reports.queries.proxies import grading_proxies
from reports.tables import judges as judge_tables
from reports.tables import mistakes as mistake_tables
from reports.tables import run as tables
from reports.tables.long import AskedTable
from reports.trends.rate_selection import asked_trend, read_trend_asked
from reports.trends.scope import Scope, agent_scope, experiment_scope
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.views.files import csv_file


@require_safe
def matrix_csv(request: ProjectRequest, number: int) -> StreamingHttpResponse:
    """Send the matrix: a row a cell, or with `?form=wide` a row an expected class."""
    grading = graded(run_head(request, number, "matrix"))
    state = read_matrix_state(request.GET)
    matrix = counted_matrix(grading, state)
    name = f"run-{number}-matrix"
    if request.GET.get("form") == "wide":
        return csv_file(f"{name}-wide", ("expected", *matrix.columns), tables.matrix_wide(matrix))
    return csv_file(name, tables.MATRIX_LONG, tables.matrix_long(matrix))


@require_safe
def tools_csv(request: ProjectRequest, number: int) -> StreamingHttpResponse:
    """Send the per-tool table."""
    grading = graded(run_head(request, number, "run"))
    state = read_matrix_state(request.GET)
    table = tools_of(counted_matrix(grading, state.undivided))
    return csv_file(f"run-{number}-tools", tables.TOOLS, tables.tools(table))


@require_safe
def layers_csv(request: ProjectRequest, number: int) -> StreamingHttpResponse:
    """Send the layers and depths."""
    grading = graded(run_head(request, number, "run"))
    rows = tables.layers(grading_layers(grading), grading_noise(grading))
    return csv_file(f"run-{number}-layers", tables.LAYERS, rows)


@require_safe
def metrics_csv(request: ProjectRequest, number: int) -> StreamingHttpResponse:
    """Send what each metric came to."""
    grading = graded(run_head(request, number, "run"))
    return csv_file(f"run-{number}-metrics", tables.METRIC_MEANS, tables.metrics(metrics_of(grading)))


@require_safe
def proxies_csv(request: ProjectRequest, number: int) -> StreamingHttpResponse:
    """Send how well cheaper checks predict the end state."""
    grading = graded(run_head(request, number, "run"))
    return csv_file(f"run-{number}-proxies", tables.PROXIES, tables.proxies(grading_proxies(grading)))


@require_safe
def failures_csv(request: ProjectRequest, number: int) -> StreamingHttpResponse:
    """Send how many cases have each failure tag and each mode, what they mean and what to do."""
    counts = verdict_counts(graded(run_head(request, number, "run")))
    tags, modes = tag_counts(counts.get("tag", {})), failure_modes(counts.get("mode", {}))
    return csv_file(f"run-{number}-failures", mistake_tables.FAILURES, mistake_tables.failures(tags, modes))


@require_safe
def remarks_csv(request: ProjectRequest, number: int) -> StreamingHttpResponse:
    """Send every tag and note on the cases of a run."""
    grading = graded(run_head(request, number, "cases"))
    return csv_file(f"run-{number}-remarks", tables.REMARKS, remark_rows(grading))


@require_safe
def overreach_csv(request: ProjectRequest, number: int) -> StreamingHttpResponse:
    """Send the cells in which there are excess calls."""
    grading = graded(run_head(request, number, "run"))
    return csv_file(
        f"run-{number}-overreach", mistake_tables.OVERREACH, mistake_tables.overreach(grading_overreach(grading))
    )


@require_safe
def judges_csv(request: ProjectRequest, number: int) -> StreamingHttpResponse:
    """Send what each judge came to."""
    grading = graded(run_head(request, number, "run"))
    return csv_file(f"run-{number}-judges", judge_tables.JUDGES, judge_tables.judges(judges_of(grading)))


@require_safe
def judged_csv(request: ProjectRequest, number: int) -> HttpResponseBase:
    """Send every judge's verdict on every case."""
    return long_csv(
        request, AskedTable.of_address("judged", graded(run_head(request, number, "run")), request.GET.dict())
    )


@require_safe
def cases_csv(request: ProjectRequest, number: int) -> HttpResponseBase:
    """Send the graded cases of a list, all of them by default."""
    return long_csv(
        request, AskedTable.of_address("cases", graded(run_head(request, number, "cases")), request.GET.dict())
    )


@require_safe
def state_csv(request: ProjectRequest, number: int) -> HttpResponseBase:
    """Send every place where a case's calls left another state than the expected one."""
    return long_csv(
        request, AskedTable.of_address("state", graded(run_head(request, number, "run")), request.GET.dict())
    )


@require_safe
def trends_csv(request: ProjectRequest, experiment: str) -> StreamingHttpResponse:
    """Send every rate of every run of an experiment; with `?of=tools` the recall or precision of every tool."""
    return _trends_file(request, experiment_scope(request, experiment))


@require_safe
def agent_trends_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the same of the runs of an agent."""
    return _trends_file(request, agent_scope(request))


def _trends_file(request: ProjectRequest, scope: Scope) -> StreamingHttpResponse:
    asked = read_trend_asked(request.GET)
    _, points = asked_trend(scope, asked)
    return csv_file(f"{scope.file}{asked.suffix}", tables.TRENDS, tables.trends(points))


def long_csv(request: ProjectRequest, asked: AskedTable) -> HttpResponseBase:
    """Send a table, or where it is long lead to the page that writes it in the background; `?now=1` sends it anyhow."""
    if request.GET.get("now") != "1" and asked.is_long:
        run = asked.grading.run
        address = reverse("reports:table", args=[request.project.slug, run.number, asked.name])
        return redirect(f"{address}?{urlencode(asked.parameters)}")
    return csv_file(asked.file_name.removesuffix(".csv"), asked.columns, asked.rows())


@require_safe
def findings_csv(request: ProjectRequest, number: int) -> StreamingHttpResponse:
    """Send what was found in the cases beside their verdicts, by family, kind and tool."""
    grading = graded(run_head(request, number, "run"))
    findings = grading_findings(grading, verdict_counts(grading))
    return csv_file(f"run-{number}-findings", mistake_tables.FINDINGS, mistake_tables.findings(findings))
