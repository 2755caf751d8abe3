"""Write cases as lines of a list: their ids, requests and results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from labeling.conversation.turns import snippet
from toolevals.runs.models import CaseGrade


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One line."""

    id: UUID
    example_id: UUID
    external_id: str
    snippet: str
    trial: int
    expected: str
    actual: str
    outcome: str
    mode: str


def case_rows(cases: Iterable[CaseGrade]) -> tuple[CaseRow, ...]:
    """Return the lines of cases that were read with their revision and example."""
    return tuple(
        CaseRow(
            id=case.pk,
            example_id=case.transcript.entry.revision.example_id,
            external_id=case.transcript.entry.revision.example.external_id,
            snippet=snippet(case.transcript.entry.revision.input),
            trial=case.transcript.trial + 1,
            expected=case.expected,
            actual=case.actual,
            outcome=case.outcome,
            mode=case.mode,
        )
        for case in cases
    )
