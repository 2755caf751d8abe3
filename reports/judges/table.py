"""Write the tables of judges that are downloaded: their columns (described in docs/tables.md), and their rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from reports.judges.analysis import JudgeRow
from reports.rates import COUNTED, counted
from toolevals.presentation.csv import Cell

JUDGES: Final = (
    "rubric",
    "version",
    "judge",
    "model",
    "pinned",
    "share",
    *COUNTED,
    "mean",
    "asked",
    "cost",
    "goal",
    "settled",
    "corrected",
    "corrected_low",
    "corrected_high",
    "calibration_id",
    "calibrated_at",
    "kappa",
    "agreement",
    "flag",
    "injections",
    "only_unscored",
)


def judges(rows: Sequence[JudgeRow]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each judge."""
    for row in rows:
        yield (
            row.rubric,
            row.version,
            row.judge,
            row.model,
            row.pinned,
            row.share,
            *counted(row),
            row.mean,
            row.asked,
            row.cost,
            row.goal,
            *_beside_people(row),
            row.injections,
            row.only_unscored,
        )


def _beside_people(row: JudgeRow) -> Iterator[Cell]:
    corrected, mark = row.corrected, row.mark
    yield row.settled
    yield corrected.value if corrected else None
    yield corrected.interval.low if corrected and corrected.interval else None
    yield corrected.interval.high if corrected and corrected.interval else None
    yield mark.calibration
    yield mark.calibrated_at
    yield mark.table.kappa.value if mark.table else None
    yield mark.table.agreement.value if mark.table else None
    yield mark.flag
