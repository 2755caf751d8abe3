"""Shows background work: the list, one job, its progress as a part of other pages, and what can be done with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import HttpResponseClientRefresh

from toolevals.presentation.csv import Cell
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.jobs.services import JobStateError, job_cancel, job_pause, job_resume, job_retry
from toolevals.workspace.models import Job
from toolevals.workspace.paging import page_of, rows_of
from toolevals.workspace.requests import ProjectRequest

JOBS: Final = ("job_id", "kind", "title", "state", "stage", "done", "total", "created_at", "finished_at", "reason")


def job_lines(jobs: Iterable[Job]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each job that was read `with_progress`."""
    for job in jobs:
        done, total = job.progress
        times = job.created_at, job.finished_at
        yield job.pk, job.kind, job.title, job.state, job.stage, done, total, *times, job.reason


# By the last word of their addresses.
JOB_ACTS: Final = {"cancel": job_cancel, "pause": job_pause, "resume": job_resume, "retry": job_retry}


def job_act(request: ProjectRequest, job: Job, act: str) -> None:
    """Do with the job what the act is; where its state does not allow that, tell who asked."""
    try:
        JOB_ACTS[act](job=job, actor=request.user)
    except JobStateError as error:
        messages.error(request, str(error))


@require_GET
def jobs(request: ProjectRequest) -> HttpResponse:
    """List the jobs, newest first."""
    rows = Job.objects.of_project(request.project).with_progress().select_related("actor")
    return render(request, "workspace/jobs.html", {"page": page_of(rows, request.GET.get("before", ""))})


@require_GET
def jobs_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the same list, all of it."""
    rows = rows_of(Job.objects.of_project(request.project).with_progress())
    return csv_file("jobs", JOBS, job_lines(rows))


@require_GET
def job(request: ProjectRequest, job: UUID) -> HttpResponse:
    """Show a job; to HTMX, its part only. With `?reload`, a page that waited reloads when the job has ended.

    With `?short`, the part is without what a file was read as.
    """
    found = _job(request, job)
    if not request.htmx:
        return render(request, "workspace/job.html", {"job": found, "failures": found.failures()})
    if "reload" in request.GET and not found.is_open:
        return HttpResponseClientRefresh()
    return _part(request, found)


@require_POST
def act(request: ProjectRequest, job: UUID, act: str) -> HttpResponse:
    """Do one of `JOB_ACTS` with the job, and show it as it is then."""
    job_act(request, _job(request, job), act)
    return _part(request, _job(request, job)) if request.htmx else redirect("workspace:job", request.project.slug, job)


def _job(request: ProjectRequest, pk: UUID) -> Job:
    rows = Job.objects.of_project(request.project).with_progress().select_related("actor", "project")
    return get_object_or_404(rows, pk=pk)


def _part(request: ProjectRequest, job: Job) -> HttpResponse:
    return render(
        request,
        "workspace/parts/job.html",
        {"job": job, "reload": "reload" in request.GET, "short": "short" in request.GET},
    )
