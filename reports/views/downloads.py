"""Send tables as CSV files, streamed."""

from __future__ import annotations

from collections.abc import Callable

from django.http import Http404, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from reports.matrix.queries import counted_matrix
from reports.matrix.state import read_matrix_state
from reports.run import table as tables
from reports.run.header import graded, run_head
from reports.run.tools import tools_of
from reports.tables.bundled import BUNDLED
from reports.tables.long import TableRequest
from reports.trends.queries import Scope, agent_scope, experiment_scope
from reports.trends.table import TRENDS, read_trend_request, trend_of_request
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.tables import table_file


def whole_table(name: str) -> Callable[[ProjectRequest, int], HttpResponseBase]:
    """Return the view that sends a table of a run as the run's zip holds it."""
    table = BUNDLED[f"{name}.csv"]

    @require_safe
    def send(request: ProjectRequest, number: int) -> HttpResponseBase:
        rows = table.rows(graded(run_head(request, number, "run")))
        if rows is None:
            raise Http404
        return csv_file(f"run-{number}-{name}", table.columns, rows)

    return send


def long_table(name: str) -> Callable[[ProjectRequest, int], HttpResponseBase]:
    """Return the view that sends a table of a run that can be long, with the filters of the address."""

    @require_safe
    def send(request: ProjectRequest, number: int) -> HttpResponseBase:
        grading = graded(run_head(request, number, "run"))
        return long_csv(request, TableRequest.of_address(name, grading, request.GET.dict()))

    return send


@require_safe
def matrix_csv(request: ProjectRequest, number: int) -> StreamingHttpResponse:
    """Send the matrix: a row a cell, or with `?form=wide` a row an expected class."""
    grading = graded(run_head(request, number, "matrix"))
    state = read_matrix_state(request.GET)
    matrix = counted_matrix(grading, state)
    name = f"run-{number}-matrix"
    if request.GET.get("form") == "wide":
        return csv_file(f"{name}-wide", ("expected", *matrix.columns), tables.matrix_wide(matrix))
    return table_file(name, tables.CELLS, matrix.cells)


@require_safe
def tools_csv(request: ProjectRequest, number: int) -> StreamingHttpResponse:
    """Send the per-tool table."""
    grading = graded(run_head(request, number, "run"))
    state = read_matrix_state(request.GET)
    table = tools_of(counted_matrix(grading, state.undivided))
    return table_file(f"run-{number}-tools", tables.TOOLS, table.rows)


@require_safe
def trends_csv(request: ProjectRequest, experiment: str) -> StreamingHttpResponse:
    """Send every rate of every run of an experiment; with `?of=tools` the recall or precision of every tool."""
    return _trends_file(request, experiment_scope(request, experiment))


@require_safe
def agent_trends_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the same of the runs of an agent."""
    return _trends_file(request, agent_scope(request))


def _trends_file(request: ProjectRequest, scope: Scope) -> StreamingHttpResponse:
    trend_request = read_trend_request(request.GET)
    _, points = trend_of_request(scope, trend_request)
    return table_file(f"{scope.file}{trend_request.suffix}", TRENDS, points)


def long_csv(request: ProjectRequest, table_request: TableRequest) -> HttpResponseBase:
    """Send a table, or where it is long lead to the page that writes it in the background; `?now=1` sends it anyhow."""
    if request.GET.get("now") != "1" and table_request.is_long:
        run = table_request.grading.run
        address = reverse("reports:table", args=[request.project.slug, run.number, table_request.name])
        return redirect(f"{address}?{urlencode(table_request.parameters)}")
    return csv_file(table_request.file_name.removesuffix(".csv"), table_request.columns, table_request.rows())
