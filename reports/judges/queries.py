"""Read rows of judges' answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models import Count

from reports.judges.analysis import PREFIX, UNMARKED, JudgeRow, JudgeTotals, Mark, judge_rows
from toolevals.json_types import JsonObject
from toolevals.runs.aggregates.sums import kept_sums
from toolevals.runs.judging.blindness import HIDDEN
from toolevals.runs.judging.judge_reliability import Standing, grading_standings
from toolevals.runs.models import CaseGrade, Grading, JudgeCount, JudgedCase

KEYSET_PAGE = 1000
# The columns of `JudgeCount` that make `JudgeTotals`.
TOTALS = ("passed", "failed", "unscored", "errored", "mean", "asked", "cost", "settled")


def judges_of(grading: Grading) -> tuple[JudgeRow, ...]:
    """Return what each judge of a grading came to; without judges nothing is asked."""
    if not grading.judges:
        return ()
    counts = JudgeCount.objects.filter(grading=grading)
    injections = injection_counts(grading)
    sums = kept_sums(grading, "judgements")
    return judge_rows(
        grading.judges,
        {
            count.rubric: JudgeTotals(
                **{name: getattr(count, name) for name in TOTALS},
                injections=injections.get(count.rubric, 0),
                sums=sums.get((count.rubric,)),
            )
            for count in counts
        },
        judge_marks(grading),
    )


def injection_counts(grading: Grading) -> dict[str, int]:
    """Return how many of the cases that each judge scored hold a text that speaks to it, by the name of its rubric."""
    flagged = CaseGrade.objects.filter(grading=grading).exclude(injection="").order_by().values("pk")
    judged = JudgedCase.objects.filter(grading=grading, case__in=flagged, value__isnull=False).exclude(questions=0)
    return dict(judged.order_by().values_list("rubric").annotate(Count("pk")))


def flagged_cases(grading: Grading) -> int:
    """Return how many cases of a grading hold a text that speaks to their judge."""
    return CaseGrade.objects.filter(grading=grading).exclude(injection="").count()


def judge_marks(grading: Grading) -> dict[str, Mark]:
    """Return what is known of each judge of a grading next to people, by the name of its rubric."""
    return {name: mark_of(standing) for name, standing in grading_standings(grading).items()}


def mark_of(standing: Standing) -> Mark:
    """Return a judge's standing as reports show it."""
    calibration = standing.calibration
    return Mark(standing.words, calibration.pk if calibration else None, standing.calibrated_at, standing.table)


def judge_columns(grading: Grading) -> tuple[str, ...]:
    """Return the names of a grading's judge columns."""
    return tuple(f"{PREFIX}{seat['rubric']}" for seat in grading.judges)


def judged_for_export(grading: Grading) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each case and judge, in the order of `cases.JUDGED`, a page at a time."""
    rows, last = JudgedCase.objects.for_export(grading), 0
    while page := list(rows.filter(pk__gt=last)[:KEYSET_PAGE]):
        yield from judged_rows(grading, page)
        last = page[-1].pk


def judged_rows(grading: Grading, page: Iterable[JudgedCase]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of some verdicts of a grading that were read `for_export`."""
    seats, marks = {seat["rubric"]: seat for seat in grading.judges}, judge_marks(grading)
    for row in page:
        yield _exported(row, seats[row.rubric], marks.get(row.rubric, UNMARKED))


def _exported(row: Any, seat: JsonObject, mark: Mark) -> tuple[Any, ...]:
    transcript = row.case.transcript
    said = row.case.detail.get("judged", {}).get(row.rubric, {})
    verdict = ("hidden", None, HIDDEN) if row.is_hidden else (row.status, row.value, said.get("reason", ""))
    return (
        row.case_id,
        transcript.pk,
        transcript.entry.revision_id,
        transcript.entry.revision.example.external_id,
        transcript.trial,
        row.rubric,
        seat["version"],
        seat["name"],
        seat["model"],
        seat["pinned"],
        *verdict,
        mark.flag,
        row.case.injection,
    )
