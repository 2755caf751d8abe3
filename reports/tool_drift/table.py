"""Define the tables of what changed at a source; docs/tables.md describes the columns of the files."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from toolevals.presentation.table import Column, Table
from toolevals.registry.tool_drift import DRIFT_KINDS

KINDS: Final = tuple(DRIFT_KINDS)
CHANGES: Final = Table(
    "SourceChange",
    "A change of a tool at its source, against the newest version.",
    (
        Column("tool"),
        Column("kind", KINDS),
        Column("what"),
        Column("argument", words="Empty where it is of the tool itself."),
        Column("before"),
        Column("after"),
    ),
)
MISFITS: Final = Table(
    "GoldMisfit",
    "An example whose gold would no longer validate.",
    (
        Column("example_id", UUID, "example.pk"),
        Column("dataset"),
        Column("external_id"),
        Column("problem"),
    ),
)
PAIRS: Final = Table(
    "TouchedPair",
    "A confused pair of the newest graded run with these tools, of which a tool changed.",
    (Column("run", int), Column("expected"), Column("actual"), Column("count", int)),
)
