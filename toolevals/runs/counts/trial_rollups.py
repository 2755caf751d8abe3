"""Count trials by example and steps by case, so that reliability costs examples and not cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from django.db.models import Count, F, Max, Q

from toolevals.grading.values.verdicts import NONE
from toolevals.runs.models import AlignedPair, CaseGrade, Grading

TRIAL_COLUMNS: Final = (
    "grading_id",
    "entry_id",
    "tool",
    "bucket",
    "difficulty",
    "passed",
    "failed",
    "unscored",
    "errored",
)
STEP_COLUMNS: Final = ("grading_id", "expected", "right", "made", "outcome", "count")
_ENTRY = "transcript__entry"
_CHUNK = 2000


def trial_rows(grading: Grading) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each example, in the order of the dataset version; none where there is one trial only."""
    if grading.run.trials < 2:
        return
    statuses = {f"n_{name}": Count("pk", filter=Q(outcome=name)) for name in TRIAL_COLUMNS[5:]}
    # What is the same in every trial of an example, but empty where one was not scored.
    facts = {f"max_{name}": Max(name) for name in ("expected", "bucket", "difficulty")}
    rows = (
        CaseGrade.objects.filter(grading=grading)
        .order_by(f"{_ENTRY}__position", f"{_ENTRY}_id")
        .values(f"{_ENTRY}__position", f"{_ENTRY}_id")
        .annotate(**facts, **statuses)
        .values_list(f"{_ENTRY}_id", *facts, *statuses)
    )
    for row in rows.iterator(chunk_size=_CHUNK):
        yield grading.pk, *row


def step_rows(grading: Grading) -> Iterator[tuple[Any, ...]]:
    """Yield how many cases have each number of expected, right and made calls; none where no case has two of any."""
    pairs = AlignedPair.objects.filter(grading=grading)
    if not pairs.filter(number__gt=0).exists():
        return
    due, made = ~Q(expected=NONE), ~Q(actual=NONE)
    counted = (
        pairs.order_by()
        .values("case_id")
        .annotate(
            due=Count("pk", filter=due),
            right=Count("pk", filter=due & Q(expected=F("actual"), arguments="passed")),
            made=Count("pk", filter=made),
        )
        .values_list("due", "right", "made", "case__outcome")
    )
    counts = Counter(counted.iterator(chunk_size=_CHUNK))
    for key, count in sorted(counts.items()):
        yield grading.pk, *key, count
