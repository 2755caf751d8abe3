"""Show a thumb on a judge's verdict, given on the page of its case."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_POST

from reports.queries.grading import case_or_404
from reports.run.header import run_url
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.thumbs.services import thumb_give
from toolevals.workspace.requests import ProjectRequest

SAID = {"up": True, "down": False, "back": None}


@require_POST
def thumb(request: ProjectRequest, number: int, case_id: UUID) -> HttpResponse:
    """Keep a thumb and come back."""
    case, said = case_or_404(request.project, number, case_id), request.POST.get("said", "")
    if said in SAID:
        rubric, note = request.POST.get("rubric", ""), request.POST.get("note", "")
        try:
            thumb_give(case=case, rubric=rubric, actor=request.user, is_up=SAID[said], note=note)
        except InvalidDocument as error:
            messages.error(request, f"Not kept: {error.problems[0].message}.")
    else:
        messages.error(request, "A thumb is up, down, or taken back.")
    query = request.GET.urlencode()
    return HttpResponseRedirect(f"{run_url('case', case.grading.run, case.pk)}{f'?{query}' if query else ''}#judged")
