"""Tell what each judge of a grading came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from uuid import UUID

from django.db.models import Count, Sum

from toolevals.runs.judging.judge_snapshots import seats_of
from toolevals.runs.models import Grading, Judge, JudgeCount, JudgedCase, Judgement

STATUSES = ("passed", "failed", "unscored", "errored")


def judge_counts(grading: Grading) -> Iterator[JudgeCount]:
    """Yield a count for each judge of a grading whose cases are all there; nothing is asked where there is none."""
    if not (seats := seats_of(grading)):
        return
    rubrics = dict(Judge.objects.filter(pk__in=[seat.judge for seat in seats]).values_list("pk", "rubric"))
    found: dict[str, Counter[str]] = {}
    sums: dict[str, float] = {}
    cases = JudgedCase.objects.filter(grading=grading).order_by("rubric", "status")
    for name, status, count, total in cases.values_list("rubric", "status").annotate(Count("pk"), Sum("value")):
        found.setdefault(name, Counter())[status] = count
        sums[name] = sums.get(name, 0.0) + (total or 0.0)
    for seat in seats:
        counts = found.get(seat.rubric, Counter())
        settled = JudgedCase.objects.filter(grading=grading, rubric=seat.rubric, status="passed", questions=0).count()
        scored = counts["passed"] + counts["failed"]
        judge = UUID(seat.judge)
        yield JudgeCount(
            grading=grading,
            judge_id=judge,
            rubric=seat.rubric,
            **{status: counts[status] for status in STATUSES},
            settled=settled,
            mean=sums[seat.rubric] / scored if scored else None,
            **Judgement.objects.spent_on(grading, rubrics[judge], seat.model),
        )
