"""Show one case, down to each verdict's reason; and the way to say that its gold is wrong."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from labeling.adjudicate.services import dispute_open
from labeling.errors import InvalidAct
from reports.cases.reading import read_case
from reports.dialects.reading import CaseSaid, case_said
from reports.filters.reading import read_case_filter
from reports.pages.run_header import graded, run_head, run_url
from reports.queries.grading import case_or_404, listed_cases, neighbours
from reports.queries.judges import judge_marks
from reports.queries.summing import counted_number
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.models import Thumb
from toolevals.traces.models import TraceExample
from toolevals.workspace.models import Role
from toolevals.workspace.requests import ProjectRequest

# What a key does -> the keys.
KEYMAP = (
    ("Next, previous case", ("J", "K")),
    ("Dispute the gold", ("D",)),
    ("Previous, next trial", ("[", "]")),
    ("Tag, note", ("T", "N")),
    ("Copy link", ("C",)),
    ("Back", ("Esc",)),
)


@require_safe
def case_page(request: ProjectRequest, number: int, case_id: UUID) -> HttpResponse:
    """Show one case within the list that it was opened from."""
    head = run_head(request, number, "cases")
    case = case_or_404(request.project, number, case_id)
    choice = read_case_filter(request.GET)
    before, after, position = neighbours(listed := listed_cases(graded(head), choice), case)
    counted = counted_number(case.grading, choice)
    query = request.GET.urlencode()
    from_matrix = choice.is_cell and request.GET.get("from") != "cases"
    example = case.transcript.entry.revision.example
    context = {
        "head": head,
        "run": head.run,
        "case": case,
        "reading": (reading := read_case(case, request.user, request.role)),
        "said": CaseSaid.of(case_said(case, reading.gold)),
        "marks": judge_marks(case.grading),
        "thumbs": {thumb.rubric: thumb for thumb in Thumb.objects.of_person(case, request.user)},
        "choice": choice,
        "from_matrix": from_matrix,
        "back": run_url("matrix" if from_matrix else "cases", head.run) + (f"?{query}" if query else ""),
        "query": query,
        "previous": before,
        "next": after,
        "position": position,
        "count": listed.count() if counted is None else counted,
        "trial": case.transcript.trial + 1,
        "strata": list(example.strata.items()),
        "tags": list(case.transcript.tags.all()),
        "notes": list(case.transcript.notes.select_related("actor")),
        "trace": TraceExample.objects.open_traces(request.project, [example.pk], request.role).get(example.pk),
        "may_remark": request.role >= Role.REVIEWER,
        "may_dispute": request.role >= Role.REVIEWER,
        "keymap": KEYMAP,
    }
    return render(request, "reports/case.html", context)


@require_POST
def dispute(request: ProjectRequest, number: int, case_id: UUID) -> HttpResponse:
    """Open a dispute on the case's gold and come back."""
    case = case_or_404(request.project, number, case_id)
    reason = request.POST.get("reason", "")
    try:
        dispute_open(revision=case.transcript.entry.revision, actor=request.user, reason=reason)
    except InvalidDocument as error:
        messages.error(request, f"Not sent: {error.problems[0].message}.")
    except InvalidAct as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "Dispute opened. An adjudicator who labelled neither side decides.")
    query = request.GET.urlencode()
    return HttpResponseRedirect(run_url("case", case.grading.run, case.pk) + (f"?{query}" if query else ""))
