"""Send tables as CSV files: at once, or written by a job as long tables and the zip of a run are."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from uuid import UUID

from django.http import Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_safe

from reports.downloads.bundle_tables import BUNDLED
from reports.downloads.long_tables import COMPARED, TableRequest, read_table_request
from reports.downloads.services import BUNDLE, CONTENTS, TABLE, bundle_start, table_belongs, table_of, table_start
from reports.matrix.queries import counted_matrix
from reports.matrix.state import read_matrix_state
from reports.run import table as tables
from reports.run.header import graded, run_head
from reports.run.tools import tools_of
from reports.trends.queries import Scope, agent_scope, experiment_scope
from reports.trends.table import TRENDS, read_trend_request, trend_of_request
from toolevals.workspace.file_responses import csv_file, job_asked, stored_response
from toolevals.workspace.jobs.files import KEPT, job_file
from toolevals.workspace.models import Job
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
    if refusal := table_request.refusal:
        return _refused(refusal)
    if request.GET.get("now") != "1" and table_request.is_long:
        run = table_request.grading.run
        address = reverse("reports:table", args=[request.project.slug, run.number, table_request.name])
        return redirect(f"{address}?{urlencode(table_request.parameters)}")
    return StreamingHttpResponse(
        table_request.parts(table_request.rows()),
        content_type="application/vnd.apache.parquet" if table_request.is_parquet else "text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{table_request.file_name}"'},
    )


def _refused(refusal: str) -> HttpResponse:
    return HttpResponse(refusal, status=HTTPStatus.UNPROCESSABLE_ENTITY, content_type="text/plain; charset=utf-8")


@require_http_methods(["GET", "HEAD", "POST"])
def table(request: ProjectRequest, number: int, table: str) -> HttpResponse:
    """Say which table it is and how long, and show the job that writes it; by POST, begin one."""
    head = run_head(request, number, table)
    table_request = read_table_request(request, number, table)
    if refusal := table_request.refusal:
        return _refused(refusal)
    if request.method == "POST":
        return redirect(table_start(table_request=table_request, actor=request.user).result_path)
    job = job_asked(request, TABLE)
    if job and not table_belongs(job, request.user, request.role):
        raise Http404
    if job:
        table_request = table_of(job)
    numbers = [number, table_request.candidate] if table_request.name == COMPARED else [number]
    query = urlencode(table_request.parameters)
    context = {
        "head": head,
        "run": head.run,
        "table": table_request,
        "filters": [
            (name, value) for name, value in table_request.parameters.items() if name not in ("grading", "form")
        ],
        "query": query,
        "now": reverse(f"reports:{table}-csv", args=[request.project.slug, *numbers]),
        "rows": None if job else table_request.count(),
        "job": job,
        "file": job_file(job) if job else None,
        "kept_until": job.finished_at + KEPT if job and job.finished_at else None,
    }
    return render(request, "reports/table_file.html", context)


@require_safe
def send_table_file(request: ProjectRequest, number: int, table: str, file: UUID) -> HttpResponseBase:
    """Send the file that a job has written to the person who asked for it; 410 when its day is over."""
    job = get_object_or_404(Job.objects.of_project(request.project), kind=TABLE, pk=file)
    if not table_belongs(job, request.user, request.role):
        raise Http404
    upload = job_file(job)
    if upload is None:
        return HttpResponse("This file is not ready yet or has expired.", status=HTTPStatus.GONE)
    return stored_response(upload)


@require_http_methods(["GET", "HEAD", "POST"])
def bundle(request: ProjectRequest, number: int) -> HttpResponse:
    """Say what the zip holds, and show the job that writes it; by POST, begin one."""
    head = run_head(request, number, "bundle")
    grading = graded(head)
    if request.method == "POST":
        return redirect(bundle_start(grading=grading, actor=request.user).result_path)
    job = job_asked(request, BUNDLE)
    context = {
        "head": head,
        "run": head.run,
        "grading": grading,
        "contents": CONTENTS,
        "job": job,
        "file": job_file(job) if job else None,
        "kept_until": job.finished_at + KEPT if job and job.finished_at else None,
    }
    return render(request, "reports/bundle.html", context)


@require_safe
def bundle_file(request: ProjectRequest, number: int, bundle: UUID) -> HttpResponseBase:
    """Send the zip that a job has written; 410 when its day is over."""
    job = get_object_or_404(Job.objects.of_project(request.project), kind=BUNDLE, pk=bundle)
    upload = job_file(job)
    if upload is None:
        return HttpResponse("This file is not ready yet or has expired.", status=HTTPStatus.GONE)
    return stored_response(upload)
