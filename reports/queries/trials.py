"""Rows of a grading's trials and steps: from what was counted when it finished, never from its documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from django.core.cache import cache
from django.db.models import QuerySet

from reports.analyses.compounding import Compounding, compounding_of
from reports.analyses.reliability import Reliability, reliability_of
from toolevals.runs.models import CaseGrade, Grading, StepCount, TrialCount
from toolevals.runs.services.trial_tallies import trial_tallies

KEYSET_PAGE = 2000


def grading_reliability(grading: Grading, trials: int, k: int | None = None) -> Reliability | None:
    """Return the reliability of a finished grading, which does not change and is kept; None with one trial."""
    if trials < 2:
        return None
    key = f"reports:reliability:{grading.pk}:{k or trials}"
    found: Reliability | None = cache.get(key)
    if found is None:
        groups = trial_tallies(grading)
        whole = groups.pop("", {}).get("", Counter())
        found = reliability_of(whole, groups, trials=trials, k=k)
        cache.set(key, found, timeout=24 * 3600)
    return found


def grading_compounding(grading: Grading) -> Compounding | None:
    """Return how errors compound over the steps of a grading's cases; None where no case has several."""
    rows = StepCount.objects.of_grading(grading)
    return compounding_of(rows.values_list("expected", "right", "made", "outcome", "count"))


def trial_counts(grading: Grading, how: str = "", tool: str = "") -> QuerySet[TrialCount]:
    """Return the counted examples of a grading that came out in one way, in the order of the dataset version."""
    found = TrialCount.objects.filter(grading=grading).coming_out(how)
    return (found.filter(tool=tool) if tool else found).order_by("pk")


def trial_page(rows: QuerySet[TrialCount], after: int | None, size: int) -> list[TrialCount]:
    """Return the next `size` + 1 examples, with what they are called."""
    rows = rows.filter(pk__gt=after) if after else rows
    return list(rows.select_related("entry__revision__example")[: size + 1])


def trials_of(grading: Grading, entries: Sequence[UUID]) -> dict[UUID, list[tuple[int, UUID, str]]]:
    """Return (trial, case, outcome) of each example, trial by trial."""
    cases = CaseGrade.objects.filter(
        grading=grading, transcript__run=grading.run_id, transcript__entry__in=list(entries)
    )
    found: dict[UUID, list[tuple[int, UUID, str]]] = {}
    rows = cases.order_by("transcript__trial").values_list("transcript__entry", "transcript__trial", "pk", "outcome")
    for entry, trial, case, outcome in rows:
        found.setdefault(entry, []).append((trial, case, outcome))
    return found


def trial_rows(rows: QuerySet[TrialCount], columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Yield `columns` of the counted examples, a page at a time, so that memory does not grow with them."""
    last = 0
    while True:
        page = list(rows.filter(pk__gt=last).values_list("pk", *columns)[:KEYSET_PAGE])
        for row in page:
            yield row[1:]
        if len(page) < KEYSET_PAGE:
            return
        last = page[-1][0]
