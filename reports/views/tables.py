"""Show a long table as a CSV file: asked for here, written by a job, fetched here."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_safe

from reports.pages.run_header import run_head
from reports.services import TABLE, table_belongs, table_of, table_start
from reports.tables.long import COMPARED, read_table_request
from toolevals.workspace.file_responses import job_asked, stored_response
from toolevals.workspace.jobs.files import KEPT, job_file
from toolevals.workspace.models import Job
from toolevals.workspace.requests import ProjectRequest


@require_http_methods(["GET", "HEAD", "POST"])
def table(request: ProjectRequest, number: int, table: str) -> HttpResponse:
    """Say which table it is and how long, and show the job that writes it; by POST, begin one."""
    head = run_head(request, number, table)
    table_request = read_table_request(request, number, table)
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
        "filters": [(name, value) for name, value in table_request.parameters.items() if name != "grading"],
        "query": query,
        "now": reverse(f"reports:{table}-csv", args=[request.project.slug, *numbers]),
        "rows": None if job else table_request.count(),
        "job": job,
        "file": job_file(job) if job else None,
        "kept_until": job.finished_at + KEPT if job and job.finished_at else None,
    }
    return render(request, "reports/table_file.html", context)


@require_safe
def table_file(request: ProjectRequest, number: int, table: str, file: UUID) -> HttpResponseBase:
    """Send the file that a job has written to the person who asked for it; 410 when its day is over."""
    job = get_object_or_404(Job.objects.of_project(request.project), kind=TABLE, pk=file)
    if not table_belongs(job, request.user, request.role):
        raise Http404
    upload = job_file(job)
    if upload is None:
        return HttpResponse("This file is not there: not written yet, or its day is over.", status=HTTPStatus.GONE)
    return stored_response(upload)
