"""Show everything about a run as one zip: begun here, written by a job, fetched here."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from reports.bundle import CONTENTS
from reports.pages.run_header import graded, run_head
from reports.services import BUNDLE, bundle_start
from toolevals.workspace.file_responses import job_asked, stored_response
from toolevals.workspace.jobs.files import KEPT, job_file
from toolevals.workspace.models import Job
from toolevals.workspace.requests import ProjectRequest


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
        return HttpResponse("This file is not there: not written yet, or its day is over.", status=HTTPStatus.GONE)
    return stored_response(upload)
