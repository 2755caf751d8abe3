"""Show tags and notes on a case."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponseRedirect
from django.views.decorators.http import require_POST

from reports.queries.grading import case_or_404
from reports.run.header import run_url
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.models import CaseGrade
from toolevals.runs.remarks.services import note_add, tag_add, tag_remove
from toolevals.workspace.requests import ProjectRequest


@require_POST
def tag(request: ProjectRequest, number: int, case_id: UUID) -> HttpResponseRedirect:
    """Give the case a tag, or take one off with `remove`, and come back."""
    case = case_or_404(request.project, number, case_id)
    try:
        if removed := request.POST.get("remove", ""):
            tag_remove(transcript=case.transcript, actor=request.user, tag=removed)
        else:
            tag_add(transcript=case.transcript, actor=request.user, tag=request.POST.get("tag", ""))
    except InvalidDocument as error:
        messages.error(request, f"No tag: it {error.problems[0].message}.")
    return _back(request, case)


@require_POST
def note(request: ProjectRequest, number: int, case_id: UUID) -> HttpResponseRedirect:
    """Write a note on the case, and come back."""
    case = case_or_404(request.project, number, case_id)
    try:
        note_add(transcript=case.transcript, actor=request.user, text=request.POST.get("text", ""))
    except InvalidDocument as error:
        messages.error(request, f"No note: it {error.problems[0].message}.")
    return _back(request, case)


def _back(request: ProjectRequest, case: CaseGrade) -> HttpResponseRedirect:
    query = request.GET.urlencode()
    return HttpResponseRedirect(
        run_url("case", case.grading.run, case.pk) + (f"?{query}" if query else "") + "#remarks"
    )
