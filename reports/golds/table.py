"""Define the tables of a run under several golds; docs/tables.md describes their columns."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from reports.golds.queries import CAUSES, HOWS
from toolevals.presentation.table import Column, Table

_CHANGED: Final = (*HOWS, *(f"by_{cause}" for cause in CAUSES))
GOLDS: Final = Table(
    "GoldRow",
    "One finished grading, as a row of `golds.csv`: how many cases changed since `before`, and by what.",
    (
        Column("grading", int, "grading.number"),
        Column("grading_id", UUID, "grading.pk"),
        Column("version", int, "grading.dataset_version.number"),
        Column("graded_at", datetime, "grading.finished_at"),
        Column("decided_by", optional=True),
        Column("passed", int, "rate.passed", optional=True),
        Column("scored", int, "rate.total", optional=True),
        Column("rate", float, "rate.value", optional=True),
        Column("rate_low", float, "rate.low", optional=True),
        Column("rate_high", float, "rate.high", optional=True),
        Column("before", int, "before.number", optional=True),
        *(Column(name, int, f"changed.{name}", optional=True) for name in _CHANGED),
        Column("regolded", int, words="Of how many examples the gold means another thing.", optional=True),
    ),
)
CASES: Final = Table(
    "GoldCase",
    "One case whose outcome changed, as a row of the file.",
    (
        Column("revision_id", UUID),
        Column("external_id"),
        Column("trial", int),
        Column("how", tuple(HOWS)),
        Column("cause", tuple(CAUSES)),
        Column("case_id_before", UUID, optional=True),
        Column("outcome_before", optional=True),
        Column("case_id_after", UUID, optional=True),
        Column("outcome_after", optional=True),
        Column("gold_id_before", UUID, optional=True),
        Column("gold_before"),
        Column("decided_by_before"),
        Column("gold_id_after", UUID, optional=True),
        Column("gold_after"),
        Column("decided_by_after"),
        Column("source_after", optional=True),
        Column("rationale_after", optional=True),
    ),
)
