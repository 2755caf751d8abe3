"""Background work: the list, one job, and its progress as a part of other pages."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import HttpResponseClientRefresh

from toolevals.workspace.jobs import JobStateError, job_cancel, job_pause, job_resume, job_retry
from toolevals.workspace.models import Job
from toolevals.workspace.paging import page_of
from toolevals.workspace.requests import ProjectRequest


@require_GET
def jobs(request: ProjectRequest) -> HttpResponse:
    """List the jobs, newest first."""
    rows = Job.objects.filter(project=request.project).with_progress().select_related("actor")
    return render(request, "workspace/jobs.html", {"page": page_of(rows, request.GET.get("before", ""))})


@require_GET
def job(request: ProjectRequest, job: UUID) -> HttpResponse:
    """Show a job; to HTMX, its part only. With `?reload`, a page that waited reloads when the job has ended."""
    found = _job(request, job)
    if not request.htmx:
        return render(request, "workspace/job.html", {"job": found, "failures": found.failures()})
    if "reload" in request.GET and not found.is_open:
        return HttpResponseClientRefresh()
    return _part(request, found)


@require_POST
def cancel(request: ProjectRequest, job: UUID) -> HttpResponse:
    """Stop the job."""
    return _act(request, job, job_cancel)


@require_POST
def pause(request: ProjectRequest, job: UUID) -> HttpResponse:
    """Begin nothing more of the job for now."""
    return _act(request, job, job_pause)


@require_POST
def resume(request: ProjectRequest, job: UUID) -> HttpResponse:
    """Go on with the job."""
    return _act(request, job, job_resume)


@require_POST
def retry(request: ProjectRequest, job: UUID) -> HttpResponse:
    """Have another go at what failed or was cancelled."""
    return _act(request, job, job_retry)


def _job(request: ProjectRequest, pk: UUID) -> Job:
    rows = Job.objects.filter(project=request.project).with_progress().select_related("actor", "project")
    return get_object_or_404(rows, pk=pk)


def _act(request: ProjectRequest, pk: UUID, service: Callable[..., Job]) -> HttpResponse:
    """Do with the job what the service does, and show it as it is then."""
    try:
        service(job=_job(request, pk), actor=request.user)
    except JobStateError as error:
        messages.error(request, str(error))
    return _after(request, pk)


def _after(request: ProjectRequest, pk: UUID) -> HttpResponse:
    return _part(request, _job(request, pk)) if request.htmx else redirect("workspace:job", request.project.slug, pk)


def _part(request: ProjectRequest, job: Job) -> HttpResponse:
    return render(request, "workspace/parts/job.html", {"job": job, "reload": "reload" in request.GET})
