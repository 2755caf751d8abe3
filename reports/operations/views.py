"""Show how the work of the installation goes, and retry what failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from reports.monitoring.queries import Figure
from reports.monitoring.views import kept_figures
from reports.operations import queries
from reports.operations.table import TABLES
from toolevals.workspace.jobs.services import JobStateError, job_retry
from toolevals.workspace.models import Membership, Role
from toolevals.workspace.paging import page_of
from toolevals.workspace.requests import SignedInRequest
from toolevals.workspace.tables import table_file

# Lost leases, rows of storage: of more, the file holds all.
MOST_ROWS: Final = 100
# Where members see the rows of a kind, and the least role for it.
_PAGES: Final = {
    "examples": ("labeling:datasets", Role.VIEWER),
    "labels": ("labeling:datasets", Role.VIEWER),
    "runs": ("runs:runs", Role.VIEWER),
    "transcripts": ("runs:runs", Role.VIEWER),
    "grades of cases": ("runs:runs", Role.VIEWER),
    "traces": ("traces:traces", Role.VIEWER),
    "acts": ("workspace:audit", Role.OWNER),
    "jobs": ("workspace:jobs", Role.VIEWER),
    "batches": ("workspace:jobs", Role.VIEWER),
}


@require_GET
def operations(request: SignedInRequest) -> HttpResponse:
    """Show workers, queues, lost leases, failed and running jobs, and what is slow."""
    figures, roles = kept_figures(), _roles(request)
    leases = queries.lost_leases()
    context = {
        "figures": _single(figures),
        "ready": {name: value for (name,), value in _rows(figures, "ready").items()},
        "workers": queries.workers(),
        "queues": queries.queues(figures),
        "leases": leases[:MOST_ROWS],
        "more_leases": max(leases.count() - MOST_ROWS, 0),
        "failed": page_of(queries.failed_jobs().with_progress(), request.GET.get("failed", "")),
        "running": page_of(queries.running_jobs(), request.GET.get("running", "")),
        "slow": queries.slow_queries(),
        "mine": roles.keys(),
    }
    return render(request, "reports/operations.html", context)


@require_GET
def storage(request: SignedInRequest) -> HttpResponse:
    """Show what each project stores."""
    found, roles = queries.storage(), _roles(request)
    rows = [(row, _page(row, roles)) for row in found.rows[:MOST_ROWS]]
    context = {"storage": found, "rows": rows, "more": max(len(found.rows) - MOST_ROWS, 0)}
    return render(request, "reports/operations_storage.html", context)


@require_GET
def operations_csv(request: SignedInRequest, table: str) -> StreamingHttpResponse:
    """Send one of the tables. Raises Http404."""
    if table not in TABLES:
        raise Http404
    columns, read = TABLES[table]
    return table_file(f"operations-{table}", columns, read())


@require_POST
def retry(request: SignedInRequest, job: UUID) -> HttpResponse:
    """Queue the failed batches of a job of any project again. Raises Http404."""
    found = queries.retriable(job)
    if found is None:
        raise Http404
    try:
        job_retry(job=found, actor=request.user)
        messages.success(request, f"The {found.kind} job of {found.project.slug} is queued again.")
    except JobStateError as error:
        messages.error(request, str(error))
    return redirect("operations:operations")


def _roles(request: SignedInRequest) -> dict[UUID, int]:
    """Return the role of who asks in each of their projects: only these have pages for them."""
    return dict(Membership.objects.filter(user=request.user).values_list("project", "role"))


def _page(row: queries.StorageRow, roles: dict[UUID, int]) -> str:
    """Return the address of a page with such rows; none where who asks may not see it."""
    name, least = _PAGES.get(row.kind, ("", Role.OWNER))
    role = roles.get(row.project_id) if row.project_id else None
    return reverse(name, args=[row.project]) if name and role is not None and role >= least else ""


def _single(figures: Sequence[Figure]) -> dict[str, float]:
    """Return the figures that are one number, by name."""
    return {each.name: each.rows[()] for each in figures if () in each.rows}


def _rows(figures: Sequence[Figure], name: str) -> Any:
    return next((each.rows for each in figures if each.name == name), {})
