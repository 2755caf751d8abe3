"""Show what was done in a project."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Final

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from toolevals.presentation.csv import Cell
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.models import AuditEntry
from toolevals.workspace.paging import page_of, rows_of
from toolevals.workspace.requests import ProjectRequest

AUDIT: Final = ("entry_id", "at", "actor_id", "actor", "verb", "target_type", "target_id", "detail")


def audit_lines(entries: Iterable[AuditEntry]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each act; without an actor, the system's."""
    for entry in entries:
        actor = entry.actor
        detail = json.dumps(entry.shown_detail, ensure_ascii=False) if entry.detail else None
        who = (actor.pk, actor.name) if actor else (None, None)
        yield entry.pk, entry.at, *who, entry.verb, entry.target_type, entry.target_id, detail


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
