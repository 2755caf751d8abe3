"""Show error recovery: by tool and class of error, what followed, and every episode; and the use of results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from reports.cases.queries import grading_sums, verdict_counts
from reports.filters.case_filters import address_query
from reports.judges.analysis import JudgeRow
from reports.judges.queries import judges_of
from reports.recovery.analysis import recovery_sentence
from reports.recovery.queries import episode_page, grading_recovery, read_episode_state, unscored_recoveries
from reports.run.analysis import WARNING, Layers, layers_of
from reports.run.findings import Findings
from reports.run.header import RunHead, run_head
from reports.run.queries import grading_findings, warnings_of
from toolevals.grading.layers.recovery import ERROR_CLASSES
from toolevals.runs.judging.unscored import ANSWERS
from toolevals.workspace.requests import ProjectRequest

# The worst; the rest is in the file.
MOST_FIELDS = 7
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
    counts, sums = verdict_counts(head.grading), grading_sums(head.grading)
    layers = layers_of(counts, sums)
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
        **_prose(head, grading_findings(head.grading, counts, sums), warnings_of(head.grading, counts), layers),
        "query_more": address_query(own | {"after": page.more}) if page.more else "",
    }
    return render(request, "reports/recovery.html", context)


def _prose(head: RunHead, findings: Findings, warnings: dict[str, int], layers: Layers) -> dict[str, Any]:
    """Return what the layers that read prose found."""
    judges = judges_of(head.grading) if head.grading else ()
    fields = findings.fields
    return {
        "findings": findings,
        "fields": fields[:MOST_FIELDS],
        "fields_left": max(0, len(fields) - MOST_FIELDS),
        "warnings": warnings,
        "ask_judges": head.is_newest and not head.run.baseline_agent and not _all_asked(judges),
        "has_prose": bool(findings["unscored"].cases)
        or any(row.has_answers for row in layers.beside if row.name in WARNING),
    }


def _all_asked(judges: Sequence[JudgeRow]) -> bool:
    """Return whether the judges that answer what rules leave unscored were asked about all of it."""
    asked = {row.rubric for row in judges if row.only_unscored or row.share >= 1}
    return asked.issuperset(ANSWERS.values())
