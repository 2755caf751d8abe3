"""Write cases as lines of a list: their ids, requests and results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from toolevals.runs.models import CaseGrade

LONGEST_SNIPPET = 140


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


def snippet(document: Any) -> str:
    """Return the last thing that the user said, on one line, cut where it is long."""
    text = last_said(document)
    return text if len(text) <= LONGEST_SNIPPET else f"{text[: LONGEST_SNIPPET - 1]}…"


def last_said(document: Any) -> str:
    """Return the last thing that the user said in an example's input, on one line."""
    messages = document.get("messages") if isinstance(document, Mapping) else None
    for message in reversed(messages if isinstance(messages, list) else []):
        if isinstance(message, Mapping) and message.get("role") == "user":
            return " ".join(_text(message.get("content")).split())
    return ""


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return " ".join(part["text"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("text"), str))
