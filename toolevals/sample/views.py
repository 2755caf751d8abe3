"""Serves the buttons of an empty project that add the sample's data."""

from __future__ import annotations

from typing import Final

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from toolevals.sample.services import SamplePart, sample_add
from toolevals.workspace.requests import ProjectRequest

_ADDED: Final = {
    SamplePart.TOOLS: "Added the sample's tools.",
    SamplePart.EXAMPLES: "Added the sample's examples, with its tools.",
    SamplePart.GOLD: "Added the sample's gold labels, with its examples and tools.",
    SamplePart.RUNS: "Added the sample and started two runs of a baseline agent on it.",
}


@require_POST
def add(request: ProjectRequest, part: str) -> HttpResponse:
    """Add a part of the sample, and lead back to the project's first page."""
    if part not in list(SamplePart):
        raise Http404
    sample_add(project=request.project, actor=request.user, part=SamplePart(part))
    messages.info(request, _ADDED[SamplePart(part)])
    return redirect("workspace:project", request.project.slug)
