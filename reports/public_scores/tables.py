"""Write the table of published scores that is downloaded (described in docs/tables.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from reports.models import PublicScore
from reports.public_scores.compared_runs import published_row
from reports.public_scores.reading import COLUMNS
from toolevals.presentation.csv import Cell

SCORES: Final = ("score_id", *COLUMNS, "low", "high", "recorded_at", "ended_at")


def scores(rows: Iterable[PublicScore]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each score; `ended_at` is empty of those in force."""
    for score in rows:
        counted = published_row(score).rate
        yield (
            str(score.pk),
            *(getattr(score, name) for name in COLUMNS[:6]),
            score.published_on.isoformat(),
            score.source,
            counted.low if counted else None,
            counted.high if counted else None,
            score.created_at,
            score.ended_at,
        )
