"""Show what was done in a project."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from toolevals.presentation.csv import Cell
from toolevals.workspace.audit.models import AuditQuerySet
from toolevals.workspace.audit.sentences import sentences
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.models import AuditEntry
from toolevals.workspace.paging import page_of, rows_of, sought_page_of
from toolevals.workspace.requests import ProjectRequest

AUDIT: Final = ("entry_id", "at", "actor_id", "actor", "verb", "target_type", "target_id", "detail")
FILTERS: Final = ("person", "act", "thing", "id")


def audit_lines(entries: Iterable[AuditEntry]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each act; without an actor, the system's."""
    for entry in entries:
        actor = entry.actor
        detail = json.dumps(entry.shown_detail, ensure_ascii=False) if entry.detail else None
        who = (actor.pk, actor.name) if actor else (None, None)
        yield entry.pk, entry.at, *who, entry.verb, entry.target_type, entry.target_id, detail


@require_GET
def audit(request: ProjectRequest) -> HttpResponse:
    """List what was done, newest first; by whom, which act and to what, as the address says."""
    shown = AuditEntry.objects.shown_to(request.user, request.project)
    asked, before = _asked(request), request.GET.get("before", "")
    said = {name: value for name, value in asked.items() if value}
    page = sought_page_of(_found(shown, asked), shown, before) if said else page_of(shown, before)
    context = {
        "page": page,
        "sentences": sentences(page.rows, request.project),
        "asked": asked,
        "query": urlencode(said),
        "older_query": urlencode(said | {"before": page.older}),
        "people": request.project.members.order_by("name"),
        "things": _things(),
    }
    return render(request, "workspace/audit.html", context)


@require_GET
def audit_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the whole log, or what the same filters find."""
    entries = _found(AuditEntry.objects.shown_to(request.user, request.project), _asked(request))
    return csv_file("audit", AUDIT, audit_lines(rows_of(entries)))


def _asked(request: ProjectRequest) -> dict[str, str]:
    return {name: request.GET.get(name, "").strip()[:100] for name in FILTERS}


def _found(entries: AuditQuerySet, asked: Mapping[str, str]) -> AuditQuerySet:
    """Return the acts that filters find; what is no id finds nothing."""
    conditions: dict[str, Any] = {}
    for name, field in (("person", "actor"), ("id", "target_id")):
        if asked[name]:
            try:
                conditions[field] = UUID(asked[name])
            except ValueError:
                return entries.none()
    if asked["act"]:
        conditions["verb__icontains"] = asked["act"].replace(" ", "_")
    if asked["thing"]:
        conditions["target_type__in"] = _things().get(asked["thing"], [])
    return entries.filter(**conditions)


def _things() -> dict[str, list[str]]:
    """Return the kinds of rows that each noun stands for, by noun."""
    found: dict[str, list[str]] = {}
    for kind, thing in sorted(settings.AUDIT_THINGS.items(), key=lambda each: each[1].noun):
        found.setdefault(thing.noun, []).append(kind)
    return found
