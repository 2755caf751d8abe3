"""Write the differences of state in a grading's cases, row by row, for a download."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from reports.analyses.state import state_differences
from reports.queries.grading import KEYSET_PAGE
from toolevals.runs.models import CaseGrade, Grading


def state_cases(grading: Grading) -> QuerySet[CaseGrade]:
    """Return the cases whose calls left another state than the expected one, in no order yet."""
    return CaseGrade.objects.filter(grading=grading, execution="failed")


def failed_by_state(grading: Grading) -> QuerySet[CaseGrade]:
    """Return the same with their examples loaded, in the order of their ids."""
    cases = state_cases(grading).order_by("pk").select_related("transcript__entry__revision__example")
    return cases.defer("transcript__document", "transcript__entry__revision__input")


def state_of(case: CaseGrade) -> tuple[tuple[Any, ...], list[tuple[Any, ...]]]:
    """Return whose differences they are, and each: together the columns of `cases.STATE`."""
    transcript = case.transcript
    revision = transcript.entry.revision
    whose = case.pk, transcript.pk, revision.pk, revision.example.external_id, transcript.trial
    return whose, [tuple(each) for each in state_differences(case.detail.get("details", {}))]


def state_rows(grading: Grading) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each difference, in the order of `cases.STATE`, a page of cases at a time."""
    cases = failed_by_state(grading)
    page = list(cases[:KEYSET_PAGE])
    while page:
        for whose, differences in map(state_of, page):
            for difference in differences:
                yield (*whose, *difference)
        page = list(cases.filter(pk__gt=page[-1].pk)[:KEYSET_PAGE])
