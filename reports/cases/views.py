"""Show lists of cases, one case down to each verdict's reason, and what people say of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from labeling.adjudicate.services import dispute_open
from labeling.errors import InvalidAct
from reports.cases.queries import case_or_404, hidden_verdicts, listed_cases, neighbours, page_of
from reports.cases.reading import case_rows, read_case
from reports.dialects.queries import CaseSaid, case_said
from reports.filters.case_filters import COLUMNS, STATUSES, CaseFilter, address_query, read_case_filter, text
from reports.filters.choices import chips, filter_choices
from reports.filters.sums import counted_number
from reports.judges.analysis import UNMARKED
from reports.judges.queries import judge_columns, judge_marks
from reports.run.analysis import ERROR_MODES, MODES
from reports.run.header import graded, run_head, run_url
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.models import CaseGrade, Thumb
from toolevals.runs.remarks.services import note_add, tag_add, tag_remove
from toolevals.runs.thumbs.services import thumb_give
from toolevals.traces.models import TraceExample
from toolevals.workspace.models import Role
from toolevals.workspace.requests import ProjectRequest

WORST_FIRST = ("failed", "errored", "passed", "unscored")
# What a key does -> the keys.
CASE_KEYMAP = (
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
        "said": (said := CaseSaid.of(case_said(case, reading.gold))),
        "said_counts": _counted(each.verdict.status for each in said.others),
        "metric_counts": _counted(each.status for each in reading.metrics.values()),
        "opened": text(request.GET, "open").split(","),
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
        "keymap": CASE_KEYMAP,
    }
    return render(request, "reports/case.html", context)


def _counted(statuses: Iterable[str]) -> str:
    """Return how many verdicts have each status, in words: "5 failed, 2 passed"."""
    counts = Counter(statuses)
    return ", ".join(f"{counts[status]} {status}" for status in WORST_FIRST if counts[status])


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
        messages.success(request, "Dispute opened. An adjudicator who did not label it decides.")
    query = request.GET.urlencode()
    return HttpResponseRedirect(run_url("case", case.grading.run, case.pk) + (f"?{query}" if query else ""))


CASES_A_PAGE = 50
# What a key does -> the keys.
LIST_KEYMAP = (
    ("Case down, up", ("J", "K")),
    ("Open the case", ("↵",)),
    ("More filters", ("F",)),
    ("Copy link", ("C",)),
)


@require_safe
def cases(request: ProjectRequest, number: int) -> HttpResponse:
    """Show the cases that the address asks for."""
    head = run_head(request, number, "cases")
    if head.grading is None:
        return render(request, "reports/run_waiting.html", {"head": head, "run": head.run, "job": head.run.job})
    grading = graded(head)
    choice = read_case_filter(request.GET)
    listed = listed_cases(grading, choice)
    counted = counted_number(grading, choice)
    after = text(request.GET, "after")
    page = page_of(listed, after, CASES_A_PAGE)
    own = choice.parameters() | {"grading": request.GET.get("grading", "")}
    last = str(page[CASES_A_PAGE - 1].pk) if len(page) > CASES_A_PAGE else ""
    context = {
        "head": head,
        "run": head.run,
        "choice": choice,
        "cases": (rows := case_rows(page[:CASES_A_PAGE])),
        "traces": TraceExample.objects.open_traces(request.project, {row.example_id for row in rows}, request.role),
        "count": listed.count() if counted is None else counted,
        "after": after,
        "query": address_query(own | {"from": "cases"}),
        "query_first": address_query(own),
        "query_more": address_query(own | {"after": last}) if last else "",
        "choices": filter_choices(grading, choice.filters),
        "filters": choice.filters,
        "chips": chips(choice.filters, lambda filters: address_query(own | _blank(choice) | filters.parameters())),
        "modes": (*MODES, *ERROR_MODES),
        "hidden": hidden_verdicts(grading, choice),
        "flag": judge_marks(grading).get(choice.rubric, UNMARKED).flag if choice.rubric else "",
        "columns": (*COLUMNS, *judge_columns(grading)),
        "statuses": STATUSES,
        "keymap": LIST_KEYMAP,
    }
    return render(request, "reports/cases.html", context)


def _blank(case_filter: CaseFilter) -> dict[str, str]:
    """Return every condition that is set as none."""
    return dict.fromkeys(case_filter.filters.conditions, "")


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
        messages.error(request, "Choose thumbs up, thumbs down or remove.")
    query = request.GET.urlencode()
    return HttpResponseRedirect(f"{run_url('case', case.grading.run, case.pk)}{f'?{query}' if query else ''}#judged")
