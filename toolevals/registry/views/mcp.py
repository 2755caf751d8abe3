"""Publishes what an MCP server lists as a registry's next version."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.fetching import registry_fetch_begin
from toolevals.registry.forms import McpForm, PublishForm
from toolevals.registry.models import Registry
from toolevals.registry.views.registries import PublishPage, registry_page
from toolevals.workspace.requests import ProjectRequest


@require_POST
def fetch(request: ProjectRequest, registry: str) -> HttpResponse:
    """Begin to ask the server for its tools, to publish them, and show the job."""
    found = get_object_or_404(Registry.objects.in_project(request.project), slug=registry)
    form = McpForm(request.POST, project=request.project)
    if form.is_valid():
        try:
            job = registry_fetch_begin(registry=found, actor=request.user, **form.asked())
            return redirect("workspace:job", request.project.slug, job.pk)
        except InvalidDocument as error:
            form.add_problems(error)
    return registry_page(request, found, PublishPage(PublishForm(), form))
