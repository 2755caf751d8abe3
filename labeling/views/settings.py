"""Show how a project labels: what its owners set."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from labeling.forms.queue import LabellingForm
from labeling.services.overlap import labelling_set
from toolevals.workspace.models import Job
from toolevals.workspace.requests import ProjectRequest


@require_http_methods(["GET", "POST"])
def labelling_settings(request: ProjectRequest) -> HttpResponse:
    """Show and change how many people label each example, and how they work."""
    form = LabellingForm.of(request.project, request.POST or None)
    if request.method == "POST" and form.is_valid():
        job = labelling_set(project=request.project, actor=request.user, **form.settings)
        say_job(request, job, "The settings are saved.")
        return redirect("labeling:labelling-settings", request.project.slug)
    return render(request, "labeling/labelling_settings.html", {"form": form}, status=422 if form.errors else 200)


def say_job(request: ProjectRequest, job: Job | None, done: str) -> None:
    """Tell that something is done, or that a job is doing it."""
    messages.info(request, f"{done} Open examples follow in a job: see Jobs." if job is not None else done)
