"""Show lists of cases: of a cell, of a failure mode, of a status; a page at a time."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from reports.cases.rows import case_rows
from reports.filters.case_filters import COLUMNS, STATUSES, CaseFilter, address_query, read_case_filter, text
from reports.filters.choices import chips, filter_choices
from reports.filters.sums import counted_number
from reports.judges.analysis import UNMARKED
from reports.judges.queries import judge_columns, judge_marks
from reports.queries.grading import hidden_verdicts, listed_cases, page_of
from reports.run.analysis import ERROR_MODES, MODES
from reports.run.header import graded, run_head
from toolevals.traces.models import TraceExample
from toolevals.workspace.requests import ProjectRequest

CASES_A_PAGE = 50
# What a key does -> the keys.
KEYMAP = (("Case down, up", ("J", "K")), ("Open the case", ("↵",)), ("More filters", ("F",)), ("Copy link", ("C",)))


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
        "keymap": KEYMAP,
    }
    return render(request, "reports/cases.html", context)


def _blank(case_filter: CaseFilter) -> dict[str, str]:
    """Return every condition that is set as none."""
    return dict.fromkeys(case_filter.filters.conditions, "")
