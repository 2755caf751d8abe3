"""Define the table of rates over runs; docs/tables.md describes its columns."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from toolevals.presentation.table import RATE, Column, Table, in_file

RUN: Final = (
    Column("run", int, "run.number"),
    Column("grading_id", UUID, "run.grading", optional=True),
    Column("experiment", str, "run.experiment"),
    Column("created_at", datetime, "run.created_at"),
    Column("agent", str, "run.agent"),
    Column("dataset", str, "run.dataset"),
    Column("changed", str, "run.changed"),
)
TOOK: Final = (
    Column("cost_of_case", float, "run.took.cost_of_case", "Money, by prices.", optional=True),
    Column("tokens_of_case", float, "run.took.tokens_of_case", "The mean of tokens in and out.", optional=True),
    Column("latency_p95", float, "run.took.latency_p95", "Milliseconds of a conversation.", optional=True),
)
TRENDS: Final = Table(
    "TrendRate",
    "One rate of one run. Runs with the same `line` are joined; `broken` says why a run is not joined to the last.",
    (
        *in_file(RUN),
        Column("name", only="file"),
        Column("passed", int, "rate.passed"),
        Column("total", int, "rate.total"),
        Column("rate", RATE, only="file"),
        *(Column(part, float, f"rate.{part}", optional=True, only="answer") for part in ("value", "low", "high")),
        Column("examples", int, "rate.examples"),
        Column("line", int, optional=True),
        Column("broken", many="list"),
        *(Column(name) for name in ("judge", "model", "flag")),
        Column("tool", words="Of a parameter."),
        Column("argument", words="The parameter."),
        *in_file(TOOK),
    ),
)
RUNS: Final = Table("TrendRun", "One run, with its rates by name.", (*RUN, *TOOK, Column("rates", TRENDS, many="dict")))
GRADED: Final = Table("Trend", "Graded runs, oldest first.", (Column("runs", RUNS, many="list"),))
