"""Read rows of a grading's trials and steps: from what was counted when it finished, never from its documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final
from uuid import UUID

from django.core.cache import cache
from django.db.models import QuerySet

from labeling.models import Example, Revision
from reports.analyses.compounding import Compounding, compounding_of
from reports.analyses.reliability import Reliability, reliability_of
from toolevals.runs.counts.kept_sums import kept_sums
from toolevals.runs.counts.trial_tallies import GROUPS, trial_tallies, verdict_counts_by_example, verdict_tallies
from toolevals.runs.models import CaseGrade, Grading, StepCount, TrialCount

KEYSET_PAGE = 2000
OUTCOME: Final = "outcome"
# Strata of which gradings keep no copy.
OTHER_STRATA: Final = tuple(name for name in Example.STRATA if name not in GROUPS)
STRATA_KEPT: Final = 60


def grading_reliability(
    grading: Grading, trials: int, k: int | None = None, of: str = OUTCOME, stratum: str = ""
) -> Reliability | None:
    """Return the reliability of a finished grading, which is kept; None with one trial.

    `of` is the verdict that a trial passes by. `stratum` is one of OTHER_STRATA, as examples have it now, that they are
    grouped by instead of bucket and difficulty: kept for a while only.
    """
    if trials < 2:
        return None
    key = f"reports:reliability:{grading.pk}:{k or trials}:{of}:{stratum}"
    reliability: Reliability | None = cache.get(key)
    if reliability is None:
        if of == OUTCOME and not stratum:
            groups = trial_tallies(grading)
        else:
            groups = verdict_tallies(grading, of, ("tool", stratum) if stratum else GROUPS)
        whole = groups.pop("", {}).get("", Counter())
        reliability = reliability_of(whole, groups, trials=trials, k=k)
        cache.set(key, reliability, timeout=STRATA_KEPT if stratum else 24 * 3600)
    return reliability


def grading_compounding(grading: Grading) -> Compounding | None:
    """Return how errors compound over the steps of a grading's cases; None where no case has several."""
    rows = StepCount.objects.of_grading(grading)
    counted = list(rows.values_list("expected", "right", "made", "outcome", "count"))
    return compounding_of(counted, kept_sums(grading, "steps")) if counted else None


def trial_counts(grading: Grading, how: str = "", tool: str = "") -> QuerySet[TrialCount]:
    """Return the counted examples of a grading that came out in one way, in the order of the dataset version."""
    counts = TrialCount.objects.filter(grading=grading).coming_out(how)
    return (counts.filter(tool=tool) if tool else counts).order_by("pk")


def verdict_trial_counts(
    grading: Grading, of: str, how: str = "", tool: str = "", after: int | None = None
) -> Iterator[TrialCount]:
    """Yield the examples of a grading that came out in one way by a verdict, with its counts instead of the outcome's.

    In the order of the dataset version, with what they are called, read a page at a time; those after a row's id.
    """
    counts = verdict_counts_by_example(grading, of)
    rows = trial_counts(grading, "", tool).select_related("entry__revision__example").defer("entry__revision__input")
    while page := list((rows.filter(pk__gt=after) if after else rows)[:KEYSET_PAGE]):
        for row in page:
            row.passed, row.failed, row.unscored, row.errored = counts(row.entry.position)
            if not how or came_out(row) == how:
                yield row
        after = page[-1].pk


def came_out(row: TrialCount) -> str:
    """Return how the scored trials of an example came out: a key of TRIALS_CAME_OUT."""
    if not row.passed + row.failed:
        return "unscored"
    return "sometimes" if row.passed and row.failed else "always" if row.passed else "never"


def trial_page(grading: Grading, of: str, how: str, tool: str, *, after: int | None, size: int) -> list[TrialCount]:
    """Return the next `size` + 1 examples that the address asks for, with what they are called."""
    if of != OUTCOME:
        counts = list(islice(verdict_trial_counts(grading, of, how, tool, after), size + 1))
        shown = Revision.objects.in_bulk([row.entry.revision_id for row in counts])
        for row in counts:
            row.entry.revision.input = shown[row.entry.revision_id].input
        return counts
    rows = trial_counts(grading, how, tool)
    rows = rows.filter(pk__gt=after) if after else rows
    return list(rows.select_related("entry__revision__example")[: size + 1])


def trials_of(grading: Grading, entries: Sequence[UUID], of: str = OUTCOME) -> dict[UUID, list[tuple[int, UUID, str]]]:
    """Return (trial, case, status of a verdict) of each example, trial by trial."""
    cases = CaseGrade.objects.filter(
        grading=grading, transcript__run=grading.run_id, transcript__entry__in=list(entries)
    )
    trials: dict[UUID, list[tuple[int, UUID, str]]] = {}
    rows = cases.order_by("transcript__trial").values_list("transcript__entry", "transcript__trial", "pk", of)
    for entry, trial, case, status in rows:
        trials.setdefault(entry, []).append((trial, case, status))
    return trials


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
