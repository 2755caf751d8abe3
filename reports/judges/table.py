"""Define the table of a run's judges; docs/tables.md describes its columns."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from reports.rates import RATED
from toolevals.presentation.table import ESTIMATE, Column, Table

JUDGES: Final = Table(
    "JudgeRow",
    "One judge in one grading. `flag` says why its numbers are to be read with care; empty where nothing speaks so.",
    (
        Column("rubric"),
        Column("version", int),
        Column("layer", only="answer"),
        Column("judge"),
        Column("model"),
        Column("pinned", bool),
        Column("share", float),
        *RATED,
        Column("settled", int, optional=True, only="answer"),
        Column("corrected", ESTIMATE, optional=True, only="answer"),
        Column("mean", float, optional=True),
        Column("asked", int),
        Column("cost", float, optional=True),
        Column("goal", float),
        Column("settled", int, only="file"),
        Column("corrected", ESTIMATE, only="file"),
        Column("calibration_id", UUID, "mark.calibration", only="file"),
        Column("calibrated_at", datetime, "mark.calibrated_at", only="file"),
        Column("kappa", float, "mark.table.kappa.value", only="file"),
        Column("agreement", float, "mark.table.agreement.value", only="file"),
        Column("flag", str, "mark.flag"),
        Column("injections", int),
        Column("only_unscored", bool, words="Asked where rules leave a question, in its share or not"),
        Column("calibration", UUID, "mark.calibration", optional=True, only="answer"),
        Column("calibrated_at", datetime, "mark.calibrated_at", optional=True, only="answer"),
        Column("kappa", ESTIMATE, "mark.table.kappa", optional=True, may_lack=True, only="answer"),
        Column("agreement", ESTIMATE, "mark.table.agreement", optional=True, may_lack=True, only="answer"),
    ),
)
