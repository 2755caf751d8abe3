"""What was done in a project."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from toolevals.workspace.models import AuditEntry
from toolevals.workspace.paging import page_of
from toolevals.workspace.requests import ProjectRequest


@require_GET
def audit(request: ProjectRequest) -> HttpResponse:
    """List what was done, newest first."""
    entries = AuditEntry.objects.filter(project=request.project).select_related("actor")
    return render(request, "workspace/audit.html", {"page": page_of(entries, request.GET.get("before", ""))})
