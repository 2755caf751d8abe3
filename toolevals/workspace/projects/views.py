"""Shows the projects one may see, a project's first page and its settings."""

from __future__ import annotations

from hashlib import sha256
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.views.decorators.http import require_GET, require_http_methods, require_safe

from toolevals.workspace.access import may_make_projects
from toolevals.workspace.file_responses import job_asked, stored_response
from toolevals.workspace.form_controls import PlainForm
from toolevals.workspace.home import home_of, home_panel, visit_note, visited_before
from toolevals.workspace.jobs.files import job_file
from toolevals.workspace.models import Invitation, Job, Project, untrashed
from toolevals.workspace.navigation import counted_at_home
from toolevals.workspace.projects.export import KIND, StillBlindError, project_export_start, still_blind
from toolevals.workspace.projects.services import project_create, project_update
from toolevals.workspace.requests import ProjectRequest, SignedInRequest
from toolevals.workspace.trash.lists import deleted_projects


class ProjectForm(PlainForm):
    """A new project."""

    name = forms.CharField(max_length=120)
    slug = forms.SlugField(max_length=60, label="Short name", help_text="For addresses: letters, digits and hyphens.")

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if Project.objects.filter(slug=slug).exists():
            raise forms.ValidationError("Another project has this short name.")
        return slug


class SettingsForm(PlainForm):
    """The form for the settings of an owner."""

    name = forms.CharField(max_length=120)


JOBS_SHOWN = 5
# The parts of a first page that are asked for again while it is open.
LIVE = ("waiting", "now")


@require_GET
def home(request: SignedInRequest) -> HttpResponse:
    """List one's projects and what one is invited to.

    A person who has one project only and no invitation is taken there, unless `?all` is in the address.
    """
    mine = request.user.memberships.filter(untrashed("project"))
    memberships = list(mine.select_related("project").order_by("project__name", "pk"))
    invitations = list(Invitation.objects.for_person(request.user))
    if len(memberships) == 1 and not invitations and "all" not in request.GET:
        return redirect("workspace:project", memberships[0].project.slug)
    context = {
        "memberships": memberships,
        "invitations": invitations,
        "may_make_projects": may_make_projects(request.user),
        "deleted": deleted_projects(request.user).count(),
    }
    return render(request, "workspace/home.html", context)


@require_http_methods(["GET", "POST"])
def project_new(request: SignedInRequest) -> HttpResponse:
    """Make a project; who makes it owns it."""
    form = ProjectForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        made = project_create(actor=request.user, **form.cleaned_data)
        return redirect("workspace:project", made.slug)
    return render(request, "workspace/project_new.html", {"form": form})


@require_GET
def project(request: ProjectRequest) -> HttpResponse:
    """Say what waits for the person who asks, what is new since they were here, and what is at work.

    To HTMX, which asks while the page is open, only what changes; nothing where it is as it was (`?shown=`).
    """
    project, user = request.project, request.user
    since = visited_before(project, user) if request.htmx else visit_note(project=project, user=user)
    home = home_of(project, request.role, counted_at_home(request), since)
    parts = [render_to_string(f"workspace/parts/home_{name}.html", {"home": home}, request) for name in LIVE]
    shown = sha256("".join(parts).encode()).hexdigest()[:16]
    if request.htmx and request.GET.get("shown") == shown:
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    context: dict[str, Any] = dict(zip(LIVE, parts, strict=True)) | {"shown": shown, "seconds": home.seconds}
    if request.htmx:
        return render(request, "workspace/parts/home_live.html", context | {"swaps": True})
    context |= {
        "look": home_panel(request),
        "jobs": list(Job.objects.of_project(project).with_progress().newest_first()[:JOBS_SHOWN]),
    }
    return render(request, "workspace/project.html", context)


@require_http_methods(["GET", "POST"])
def settings(request: ProjectRequest) -> HttpResponse:
    """Change what an owner can set."""
    project = request.project
    form = SettingsForm(request.POST or None, initial={"name": project.name})
    if request.method == "POST" and form.is_valid():
        project_update(project=project, actor=request.user, **form.cleaned_data)
        messages.info(request, "The settings are saved.")
        return redirect("workspace:settings", project.slug)
    return render(request, "workspace/settings.html", {"form": form})


@require_http_methods(["GET", "POST"])
def project_export(request: ProjectRequest) -> HttpResponse:
    """Say what a project's export holds; by POST, begin the job that writes it."""
    if request.method == "POST":
        try:
            return redirect(project_export_start(project=request.project, actor=request.user).result_path)
        except StillBlindError as error:
            messages.error(request, str(error))
    job = job_asked(request, KIND)
    context = {"job": job, "file": job_file(job) if job else None, "reasons": still_blind(request.project)}
    return render(request, "workspace/project_export.html", context)


@require_safe
def project_export_file(request: ProjectRequest, whole: UUID) -> HttpResponseBase:
    """Send the file that a job has written; 410 when its day is over. What it says was not blind then."""
    found = get_object_or_404(Job.objects.of_project(request.project), kind=KIND, pk=whole)
    upload = job_file(found)
    if upload is None:
        return HttpResponse("This file has expired. Export the project again.", status=HTTPStatus.GONE)
    return stored_response(upload)
