"""Define the tables of cases, row by row; docs/tables.md describes their columns."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID

from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.presentation.table import Column, Table, in_file

# The ids that join a row with labels, grades, judges' scores and traces; trials from 0.
WHOSE: Final = (
    Column("case_id", UUID),
    Column("transcript_id", UUID),
    Column("revision_id", UUID),
    Column("external_id"),
    Column("trial", int),
)


def whose(case: str, at: str = "") -> tuple[Column, ...]:
    """Return the same where they lie in a model: `case` is the id of its case, and `at` leads to the case."""
    entry = f"{at}transcript.entry"
    ids = f"{at}transcript_id", f"{entry}.revision_id", f"{entry}.revision.example.external_id", f"{at}transcript.trial"
    return tuple(replace(column, value=path) for column, path in zip(WHOSE, (case, *ids), strict=True))


CASES: Final = Table(
    "GradedCase",
    "One graded case, as a row of `cases.csv`.",
    (
        *whose("pk"),
        *(Column(name, None) for name in ("bucket", "difficulty", "expected", "actual", *VERDICT_NAMES)),
        *(Column(name, None) for name in ("tag", "mode", "decided_by", "injection")),
        Column("ended", str, "transcript.ended"),
        Column("answered_by", str, "transcript.model"),
        *(Column(f"tokens_{of}", int, f"transcript.tokens_{of}", optional=True) for of in ("in", "out", "cached")),
        *(Column(name, float, f"transcript.{name}", optional=True) for name in ("cost", "latency_ms")),
    ),
)
# What a case says, from `reports.cases.texts`.
TEXTS: Final = Table(
    "CaseTexts",
    "What a case says.",
    (
        Column("message"),
        Column("expected_calls", words="JSON, as are the next four."),
        *(Column(name) for name in ("expected_arguments", "actual_calls", "actual_arguments", "reasons")),
    ),
)
JUDGED: Final = Table(
    "JudgedRow",
    "One judge's verdict on one case, as a row of `judged.csv`.",
    (
        *WHOSE,
        Column("rubric"),
        Column("version", int),
        Column("judge"),
        Column("model"),
        Column("pinned", bool),
        Column("status"),
        Column("value", float, optional=True),
        *(Column(name) for name in ("reason", "flag", "injection")),
    ),
)
DIFFERENCES: Final = Table(
    "StateDifference",
    "One place where the state is another than the expected one; values as JSON, empty where there is nothing.",
    tuple(Column(name) for name in ("kind", "record", "path", "expected", "actual")),
)
STATE: Final = Table(
    "StateCase",
    "One case that left another state: its rows of `state.csv`.",
    (*WHOSE, Column("differences", DIFFERENCES, many="list", only="answer"), *in_file(DIFFERENCES.columns)),
)
REMARKS: Final = Table(
    "Remark",
    "A tag or a note, as a row of `remarks.csv`; `case_id` is null where this grading has no grade of the trial.",
    (
        replace(WHOSE[0], optional=True),
        *WHOSE[1:],
        Column("remark_id", UUID),
        Column("kind", ("tag", "note")),
        Column("text"),
        Column("person"),
        Column("created_at", datetime),
    ),
)
