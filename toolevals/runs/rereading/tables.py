"""Write the cases of a re-reading as lines of a table, as one person may see them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from toolevals.presentation.csv import Cell
from toolevals.runs.judging.blindness import names_raters
from toolevals.runs.models import Reading, RereadCase, Rereading
from toolevals.runs.rereading.results import case_rows, said_of
from toolevals.workspace.models import Role, User

# `reader` is for owners; which case it is, its verdict and what people say stand there once the re-reading is closed.
COLUMNS: Final = (
    "rereading_id",
    "case_id",
    "verdict",
    "people",
    "graded_case_id",
    "transcript_id",
    "revision_id",
    "external_id",
    "trial",
    "scored_trials",
    "reading_id",
    "reader",
    "is_own",
    "said",
    "note",
    "read_at",
)


def reading_lines(
    rereading: Rereading, user: User | None, role: Role, *, verdict: str = "", said: str = ""
) -> Iterator[tuple[Cell, ...]]:
    """Yield a line for each reading that this person may see, by case, and for each case of a closed one without any.

    Without a person, a closed one is meant, and `is_own` is said of none. `verdict` and `said` (what people say)
    narrow the cases of a closed re-reading.
    """
    if rereading.has_results:
        for case in case_rows(rereading, verdict=verdict, said=said):
            about = _about(case)
            for reading in case.readings.all() or [None]:
                yield (rereading.pk, case.pk, *about, *_line(reading, user, role))
    elif user is not None:
        own = Reading.objects.visible_to(user).filter(case__rereading=rereading).order_by("case__position")
        for reading in own.select_related("reader"):
            yield (rereading.pk, reading.case_id, *(None,) * 8, *_line(reading, user, role))


def closed_lines(rereadings: Iterable[Rereading]) -> Iterator[tuple[Cell, ...]]:
    """Yield the lines of re-readings that are closed, as every member may see them: without names, and no one's own."""
    for rereading in rereadings:
        if rereading.has_results:
            yield from reading_lines(rereading, None, Role.VIEWER)


def _about(case: RereadCase) -> tuple[Cell, ...]:
    transcript = case.case.transcript
    revision = transcript.entry.revision
    named = (transcript.pk, revision.pk, revision.example.external_id, transcript.trial)
    return (case.verdict, said_of(case), case.case_id, *named, case.trials)


def _line(reading: Reading | None, user: User | None, role: Role) -> tuple[Cell, ...]:
    if reading is None:
        return (None,) * 6
    is_own = None if user is None else reading.reader_id == user.pk
    name = reading.reader.name if reading.reader and names_raters(role) else None
    return (reading.pk, name, is_own, reading.said, reading.note, reading.created_at)
