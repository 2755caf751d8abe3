"""Show error recovery: by tool and class of error, what followed, and every episode."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from reports.cases.queries import grading_layers
from reports.filters.case_filters import address_query
from reports.recovery.analysis import recovery_sentence
from reports.recovery.queries import episode_page, grading_recovery, read_episode_state, unscored_recoveries
from reports.run.header import run_head
from toolevals.grading.layers.recovery import ERROR_CLASSES
from toolevals.workspace.requests import ProjectRequest

# Which episodes are listed, by how they went.
WAYS = (
    ("", "all"),
    ("right", "right"),
    ("wrong", "not right"),
    ("unscored", "unscored"),
    ("again", "sent again at once"),
)


@require_safe
def recovery(request: ProjectRequest, number: int) -> HttpResponse:
    """Show what the agent did when tools failed."""
    head = run_head(request, number, "recovery")
    if head.grading is None:
        return render(request, "reports/run_waiting.html", {"head": head, "run": head.run, "job": head.run.job})
    state = read_episode_state(request.GET)
    analysis = grading_recovery(head.grading)
    page = episode_page(head.grading, state)
    grading = {"grading": head.grading_number or ""}
    own = state.parameters() | grading
    layers = grading_layers(head.grading)
    context = {
        "head": head,
        "run": head.run,
        "recovery": analysis,
        "unscored": unscored_recoveries(head.grading),
        "verdicts": next(row for row in layers.beside if row.name == "recovery"),
        "sentence": recovery_sentence(analysis),
        "classes": [(each, ERROR_CLASSES[each]) for each in ERROR_CLASSES if each in analysis.classes],
        "state": state,
        "ways": WAYS,
        "page": page,
        "query": address_query(own),
        "query_all": address_query(grading),
        "query_ways": address_query(own | {"how": ""}),
        "query_more": address_query(own | {"after": page.more}) if page.more else "",
    }
    return render(request, "reports/recovery.html", context)
