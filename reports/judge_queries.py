"""Rows of what judges said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reports.analyses.judges import PREFIX, JudgeRow, JudgeTotals, judge_rows
from toolevals.runs.models import Grading, JudgeCount, JudgedCase

KEYSET_PAGE = 1000


def judges_of(grading: Grading) -> tuple[JudgeRow, ...]:
    """Return what each judge of a grading came to; without judges nothing is asked."""
    if not grading.judges:
        return ()
    names = ("passed", "failed", "unscored", "errored", "mean", "asked", "cost")
    counts = JudgeCount.objects.filter(grading=grading)
    return judge_rows(
        grading.judges,
        {count.rubric: JudgeTotals(**{name: getattr(count, name) for name in names}) for count in counts},
    )


def judge_columns(grading: Grading) -> tuple[str, ...]:
    """Return the names of a grading's judge columns."""
    return tuple(f"{PREFIX}{seat['rubric']}" for seat in grading.judges)


def judged_for_export(grading: Grading) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each case and judge, in the order of `tables.JUDGED`, a page at a time."""
    seats = {seat["rubric"]: seat for seat in grading.judges}
    rows, last = JudgedCase.objects.for_export(grading), 0
    while page := list(rows.filter(pk__gt=last)[:KEYSET_PAGE]):
        for row in page:
            yield _exported(row, seats[row.rubric])
        last = page[-1].pk


def _exported(row: JudgedCase, seat: dict[str, Any]) -> tuple[Any, ...]:
    transcript = row.case.transcript
    said = row.case.detail.get("judged", {}).get(row.rubric, {})
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
        row.status,
        row.value,
        said.get("reason", ""),
    )
