"""Shows search: a page of its own, and the list inside the dialog that Ctrl K opens."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.search import search as found_in


@require_GET
def search(request: ProjectRequest) -> HttpResponse:
    """Show what the words of `?q=` find; to htmx the list alone."""
    words = request.GET.get("q", "")
    context = {"words": words.strip(), "groups": found_in(request, words)}
    template = "workspace/parts/search_found.html" if request.htmx else "workspace/search.html"
    return render(request, template, context)
