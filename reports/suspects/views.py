"""Show suspect labels: the examples of a version whose gold the evidence contradicts, each with a way to dispute it."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from labeling.adjudicate.services import dispute_open
from labeling.errors import InvalidAct
from labeling.models import DatasetVersion
from reports.run.baseline_agents import version_asked
from reports.suspects.analysis import TITLES
from reports.suspects.queries import (
    STATES,
    SuspectFilter,
    dispute_reason,
    page_of,
    reason_titles,
    row_of,
    suspects_of,
)
from reports.suspects.services import suspects_counted
from reports.suspects.table import SUSPECTS, reasons_of_each
from toolevals.traces.models import TraceExample
from toolevals.workspace.models import Role
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.tables import table_file


@require_safe
def suspects(request: ProjectRequest, dataset: str, version: str) -> HttpResponse:
    """Show a page of a version's suspects, counted again first where there is more to count."""
    version_row = version_asked(request, dataset, version)
    kept = suspects_counted(version_row, actor=request.user)
    choice = SuspectFilter.of_address(request.GET.dict())
    page = page_of(version_row, choice, request.user, request.role)
    here = min(choice.page, page.pages)
    context = {
        "dataset": version_row.dataset,
        "version": version_row,
        "kept": kept,
        "job": kept.job if kept.job is not None and kept.job.stands else None,
        "filters": choice,
        "page": page,
        "traces": TraceExample.objects.open_traces(
            request.project, [row.example_id for row in page.rows], request.role
        ),
        "here": here,
        "query": choice.query(),
        "before": choice.query(page=str(here - 1)) if here > 1 else "",
        "more": choice.query(page=str(here + 1)) if here < page.pages else "",
        "reasons": reason_titles(request.role),
        "states": STATES,
        "titles": TITLES,
        "may_dispute": request.role >= Role.REVIEWER,
    }
    return render(request, "reports/suspects.html", context)


@require_safe
def suspects_csv(request: ProjectRequest, dataset: str, version: str) -> StreamingHttpResponse:
    """Send the suspects that the address chooses, a row a reason."""
    version_row = version_asked(request, dataset, version)
    suspects_counted(version_row, actor=request.user)
    rows = suspects_of(version_row, SuspectFilter.of_address(request.GET.dict()), request.user, request.role)
    name = f"{version_row.dataset.slug}-v{version_row.number}-suspects"
    return table_file(name, SUSPECTS, reasons_of_each(rows))


@require_POST
def suspect_dispute(request: ProjectRequest, dataset: str, version: str, suspected: UUID) -> HttpResponse:
    """Open a dispute that cites the evidence, and come back to the list."""
    version_row = version_asked(request, dataset, version)
    choice = SuspectFilter.of_address(request.GET.dict())
    _dispute(request, version_row, suspected)
    query = choice.query(page=str(choice.page))
    address = reverse("reports:suspects", args=[request.project.slug, version_row.dataset.slug, version])
    return HttpResponseRedirect(f"{address}?{query}#s-{suspected}")


def _dispute(request: ProjectRequest, version: DatasetVersion, revision: UUID) -> None:
    suspect = suspects_of(version, SuspectFilter(), request.user, request.role).filter(entry__revision=revision).first()
    if suspect is None:
        raise Http404
    row = row_of(suspect, 1)
    if not row.can_be_disputed:
        messages.error(request, f"Not sent: this example is {row.state_words}.")
        return
    try:
        dispute_open(revision=suspect.entry.revision, actor=request.user, reason=dispute_reason(row))
    except InvalidAct as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{row.external_id} is disputed. An adjudicator who did not label it decides.")
