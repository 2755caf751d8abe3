"""A gate held against a file, without any server: what `toolevals grade` printed, or rows that are graded here."""

from __future__ import annotations

from collections import Counter
from typing import Any, get_args

from toolevals.cli.exits import CommandError, Exit
from toolevals.cli.grade_lines import Lines, opened
from toolevals.cli.grade_rows import Case, NativeGrading, native_row
from toolevals.cli.what_was_read import say_readings
from toolevals.grading.gates.case_table import CaseTable
from toolevals.grading.gates.cases import case_of_grade
from toolevals.grading.gates.evaluation import Evidence, hold_gate
from toolevals.grading.gates.notes import judge_notes, judges_in, with_notes
from toolevals.grading.gates.rules import Gate
from toolevals.grading.gates.values import GateResult
from toolevals.grading.problems import InvalidDocument, pointer_to
from toolevals.grading.verdicts import CaseGrade, Status, Verdict

_BESIDE = ("id", "trial", "strata", "latency_ms", "due", "metrics")


def hold_against_files(
    gate: Gate, file: str, *, baseline: str | None, consistency: str | None, release_candidate: bool
) -> GateResult:
    """Return how a file comes out. Raises CommandError where one of the files cannot be read."""
    rows = graded_rows(file)
    evidence = Evidence(
        gate_cases(rows),
        gate_cases(graded_rows(baseline)) if baseline else None,
        gate_cases(graded_rows(consistency)) if consistency and release_candidate else None,
        release_candidate,
        consistency or "",
    )
    judges = judges_in(verdict for row in rows for verdict in row.grade.judged.values())
    return with_notes(hold_gate(gate, evidence), judge_notes(judges))


def graded_rows(name: str) -> list[Case]:
    """Return a file's graded rows. Raises CommandError where a line is wrong, or a trial is there twice."""
    reading = _EitherRow()
    with opened(name) as file:
        lines = Lines(file, reading)
        rows: list[Case] = list(lines)
    lines.say_the_rest()
    say_readings(reading.native.readings)
    if lines.bad:
        raise CommandError(Exit.DATA, f"{name}: {_unread(lines.bad)}, so that nothing is decided")
    if not rows:
        raise CommandError(Exit.DATA, f"{name}: holds no case")
    twice = [key for key, count in Counter((row.id, row.trial) for row in rows).items() if count > 1]
    if twice:
        example, trial = twice[0]
        raise CommandError(Exit.DATA, f"{name}: trial {trial} of {example} is there twice")
    return rows


def json_rows(name: str) -> list[dict[str, Any]]:
    """Return a file's rows as they stand there. Raises CommandError where a line is none."""
    with opened(name) as file:
        lines = Lines(file, _AnyRow())
        rows: list[dict[str, Any]] = list(lines)
    if lines.bad or not rows:
        words = _unread(lines.bad) if lines.bad else "holds no example"
        raise CommandError(Exit.DATA, f"{name}: {words}")
    return rows


def gate_cases(rows: list[Case]) -> CaseTable:
    """Return graded rows as a gate sees them."""
    return CaseTable.of(
        case_of_grade(
            row.id,
            row.grade,
            trial=row.trial,
            strata=row.strata,
            runtime_ms=row.latency_ms,
            due=row.due,
            metrics=row.metrics,
        )
        for row in rows
    )


def _unread(lines: int) -> str:
    return "1 line cannot be read" if lines == 1 else f"{lines:,} lines cannot be read"


class _AnyRow:
    """Takes examples as they are."""

    def read(self, row: Any) -> Any:
        native_row(row)
        return row

    def remark(self, graded: Any) -> None:
        return None


class _EitherRow:
    """Reads a row that is graded already, or grades it."""

    def __init__(self) -> None:
        self.native = NativeGrading()

    def read(self, row: Any) -> Case:
        if isinstance(row, dict) and "verdicts" in row:
            return _graded(row)
        return self.native.read(row)

    def remark(self, graded: Any) -> None:
        return None


def _graded(row: dict[str, Any]) -> Case:
    example, trial, strata, latency, due, metrics = (row.get(name) for name in _BESIDE)
    if not isinstance(example, str) or not example:
        raise InvalidDocument.at("/id", "is not text")
    if trial is not None and (not isinstance(trial, int) or isinstance(trial, bool) or trial < 0):
        raise InvalidDocument.at("/trial", "is not a whole number from 0 on")
    if strata is not None and not (isinstance(strata, dict) and all(isinstance(each, str) for each in strata.values())):
        raise InvalidDocument.at("/strata", "is not an object of texts")
    if latency is not None and (isinstance(latency, bool) or not isinstance(latency, int | float) or latency < 0):
        raise InvalidDocument.at("/latency_ms", "is not a number from 0 on")
    if due is not None and not isinstance(due, str):
        raise InvalidDocument.at("/due", "is not text")
    grade = CaseGrade.from_document({key: value for key, value in row.items() if key not in (*_BESIDE, "left_out")})
    return Case(example, trial or 0, grade, strata or {}, latency, due or "", _metrics(metrics or {}))


def _metrics(document: Any) -> dict[str, Verdict]:
    """Return the metrics of a graded row. Raises InvalidDocument."""
    if not isinstance(document, dict):
        raise InvalidDocument.at("/metrics", "is not an object")
    found = {}
    for name, said in document.items():
        try:
            verdict = Verdict(**said)
        except TypeError:
            raise InvalidDocument.at(pointer_to(["metrics", name]), "is not a verdict") from None
        value, is_scored = verdict.value, verdict.status in ("passed", "failed")
        is_share = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
        if verdict.status not in get_args(Status) or not (is_share if is_scored else value is None):
            raise InvalidDocument.at(pointer_to(["metrics", name]), "is not a status with a value from 0 to 1")
        found[name] = verdict
    return found
