"""Write out what is kept of a graded case: the rows of the case, its pairs, wrong arguments, findings and judges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from toolevals.grading.engine.case_findings import argument_faults, case_findings, refused_findings
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.grading.values.verdicts import CaseGrade
from toolevals.runs import models
from toolevals.runs.grading.graded_case import Graded

FACTS = ("tag", "mode", "expected", "actual", "decided_by")
CASE_COLUMNS = (
    "id",
    "grading_id",
    "transcript_id",
    *VERDICT_NAMES,
    *FACTS,
    "bucket",
    "difficulty",
    "measured",
    "detail",
)
PAIR_COLUMNS = ("grading_id", "case_id", "number", "expected", "actual", "arguments", "bucket", "difficulty")
JUDGED_COLUMNS = ("case_id", "grading_id", "rubric", "status", "value", "questions")
FAULT_COLUMNS = ("grading_id", "case_id", "place", "tool", "argument", "kind")
FINDING_COLUMNS = ("grading_id", "case_id", "family", "kind", "tool", "count")


def rows_of(case: Graded) -> tuple[Sequence[tuple[Any, ...]], ...]:
    """Return the rows of the case, its pairs, faults and findings without the ids that they begin with."""
    if case.told.rows is None:
        statuses = (case.grade.statuses[name] for name in VERDICT_NAMES)
        facts = (getattr(case.grade, name) for name in FACTS)
        row = (*statuses, *facts, case.bucket, case.difficulty, case.values(), case.detail())
        case.told.rows = [row], [*_pairs(case)], [*_faults(case)], [*_findings(case)]
    return case.told.rows


def pair_rows(grading: models.Grading, cases: Iterable[Graded]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the cases' aligned pairs, in the order of PAIR_COLUMNS."""
    return _of_cases(grading, cases, _pairs)


def _pairs(case: Graded) -> Iterator[tuple[Any, ...]]:
    for number, pair in enumerate(case.grade.pairs):
        yield number, pair.expected, pair.actual, pair.arguments, case.bucket, case.difficulty


def _of_cases(
    grading: models.Grading, cases: Iterable[Graded], rows_of: Callable[[Graded], Iterator[tuple[Any, ...]]]
) -> Iterator[tuple[Any, ...]]:
    for case in cases:
        for row in rows_of(case):
            yield (grading.pk, case.id, *row)


def judged_rows(grading: models.Grading, case: Graded) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of what judges said of a case, in the order of JUDGED_COLUMNS."""
    for name, verdict in case.grade.judged.items():
        yield case.id, grading.pk, name, verdict.status, verdict.value, len(verdict.asked)


def fault_rows(grading: models.Grading, cases: Iterable[Graded]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the cases' wrong arguments, in the order of FAULT_COLUMNS."""
    return _of_cases(grading, cases, _faults)


def _faults(case: Graded) -> Iterator[tuple[Any, ...]]:
    if case.transcript is not None and _may_have_faults(case.grade):
        for fault in argument_faults(case.grade, case.transcript.calls):
            yield fault.place, fault.tool, fault.argument, fault.kind


def finding_rows(grading: models.Grading, cases: Iterable[Graded]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of what is found in the cases besides their verdicts, in the order of FINDING_COLUMNS."""
    return _of_cases(grading, cases, _findings)


def _findings(case: Graded) -> Iterator[tuple[Any, ...]]:
    if case.transcript is not None:
        for refused in refused_findings(case.transcript.refusals or ()):
            yield refused.family, refused.kind, refused.tool, refused.count
    if case.compiled is not None and case.transcript is not None and not case.compiled.failure:
        for found in case_findings(case.grade, case.compiled.expectation, case.compiled.offer.by_name):
            yield found.family, found.kind, found.tool, found.count


def _may_have_faults(grade: CaseGrade) -> bool:
    """Tell from what is decided already, so that most cases are not looked into."""
    return "failed" in (grade.statuses["arguments"], grade.statuses["schema"], grade.statuses["equivalence"])
