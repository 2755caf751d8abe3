"""Define the columns that the tables of cases share."""

from __future__ import annotations

from uuid import UUID

from toolevals.presentation.table import Column


def whose(case: str, at: str = "") -> tuple[Column, ...]:
    """Return the ids that join a row with labels, grades, judges' scores and traces; trials from 0.

    `case` is where a row has the id of its case, and `at` leads to the case.
    """
    return (
        Column("case_id", UUID, case),
        Column("transcript_id", UUID, f"{at}transcript_id"),
        Column("revision_id", UUID, f"{at}transcript.entry.revision_id"),
        Column("external_id", str, f"{at}transcript.entry.revision.example.external_id"),
        Column("trial", int, f"{at}transcript.trial"),
    )
