"""Export the failing cases of a run: what was asked, expected and done, and why that is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.json_types import JsonObject
from toolevals.runs.models import CaseGrade, Grading

# Of a case as a row of a table; the rest is JSON in a cell.
COLUMNS = ("id", "trial", "mode", "tag", "expected", "actual", "reason", "input", "prediction", "case")


def failing_cases(grading: Grading | None) -> Iterator[JsonObject]:
    """Yield each failed case of a grading, in the order of the dataset version; without a grading, none."""
    cases = CaseGrade.objects.filter(grading=grading, outcome="failed")
    rows = cases.select_related("transcript__entry__revision__example").order_by(
        "transcript__entry__position", "transcript__trial"
    )
    for case in rows.iterator(chunk_size=200):
        entry = case.transcript.entry
        yield {
            "id": entry.revision.example.external_id,
            "trial": case.transcript.trial,
            "mode": case.mode,
            "tag": case.tag,
            "expected": case.expected,
            "actual": case.actual,
            "reason": case.detail["verdicts"]["outcome"].get("reason", ""),
            "input": entry.revision.input,
            "prediction": case.transcript.document,
            "verdicts": {name: getattr(case, name) for name in VERDICT_NAMES},
            "case": str(case.pk),
        }


def failing_lines(grading: Grading | None) -> Iterator[bytes]:
    """Yield the failed cases as lines of JSON."""
    for case in failing_cases(grading):
        yield json.dumps(case, ensure_ascii=False).encode() + b"\n"


def failing_rows(grading: Grading | None) -> Iterator[list[Any]]:
    """Yield the failed cases as rows of `COLUMNS`."""
    for case in failing_cases(grading):
        yield [_cell(case[name]) for name in COLUMNS]


def _cell(value: object) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
