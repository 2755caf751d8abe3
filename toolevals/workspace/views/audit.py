"""Show what was done in a project."""

from __future__ import annotations

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.lists import AUDIT, audit_lines
from toolevals.workspace.models import AuditEntry
from toolevals.workspace.paging import page_of, rows_of
from toolevals.workspace.requests import ProjectRequest


@require_GET
def audit(request: ProjectRequest) -> HttpResponse:
    """List what was done, newest first."""
    entries = AuditEntry.objects.shown_to(request.user, request.project)
    return render(request, "workspace/audit.html", {"page": page_of(entries, request.GET.get("before", ""))})


@require_GET
def audit_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the whole log."""
    entries = AuditEntry.objects.shown_to(request.user, request.project)
    return csv_file("audit", AUDIT, audit_lines(rows_of(entries)))
