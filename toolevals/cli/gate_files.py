"""Holds a gate against a file, without any server: what `toolevals grade` printed, or rows that are graded here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, get_args

from toolevals.cli.blocks import answered, size_of
from toolevals.cli.grade_cases import Case, NativeGrading
from toolevals.cli.grade_rows import LineRemarks, Lines, Remarks, native_row, opened
from toolevals.cli.inputs import say_readings
from toolevals.cli.output import CommandError, Exit, ProgressBar
from toolevals.grading.engine.case_metrics import METRICS
from toolevals.grading.gates.case_table import CaseTable, case_of_grade
from toolevals.grading.gates.evaluation import Evidence, errored_note, hold_gate, judge_notes, judges_in, with_notes
from toolevals.grading.gates.results import FUNCTION_CALLS, GateResult
from toolevals.grading.gates.rules import Gate
from toolevals.grading.reading.reading_report import Readings
from toolevals.grading.values.problems import InvalidDocument, pointer_to
from toolevals.grading.values.verdicts import CaseGrade, Status, Verdict
from toolevals.json_types import JsonObject

# Every metric that a gate can name of a row that is graded here.
GATED = (*METRICS, *FUNCTION_CALLS)
_BESIDE = ("id", "trial", "strata", "latency_ms", "due", "metrics", "tokens", "cost")


def hold_against_files(
    gate: Gate, file: str, *, baseline: str | None, consistency: str | None, release_candidate: bool, jobs: int
) -> HeldFile:
    """Return how a file comes out. Raises CommandError where one of the files cannot be read."""
    run = graded_file(file, gate.named, jobs)
    before = graded_file(baseline, gate.named, jobs).cases if baseline else None
    evidence = Evidence(
        run.cases,
        before,
        graded_file(consistency, gate.named, jobs).cases if consistency and release_candidate else None,
        release_candidate,
        consistency or "",
        errored_note(len(run.errored), run.errored[0] if run.errored else ""),
    )
    return HeldFile(with_notes(hold_gate(gate, evidence), judge_notes(run.judges)), run.cases, before)


class HeldFile(NamedTuple):
    """A file's result, its cases, and those of the one before it."""

    result: GateResult
    cases: CaseTable
    before: CaseTable | None


class GradedFile(NamedTuple):
    """A file's cases as a gate sees them, the judges that were asked, and what its errored cases say."""

    cases: CaseTable
    judges: set[tuple[str, str, bool]]
    errored: list[str]


def graded_file(name: str, metrics: Collection[str] = GATED, jobs: int = 1) -> GradedFile:
    """Return a file's graded rows with these metrics. Raises CommandError where a line is wrong, or a trial twice."""
    remarks, readings, judges = Remarks(), Readings(), set[tuple[str, str, bool]]()
    errored: list[str] = []
    trials: Counter[tuple[str, int]] = Counter()
    tables: list[CaseTable] = []
    work = partial(_work, frozenset(metrics))
    with opened(name) as file, ProgressBar(name, size_of(file)) as bar:
        for done in answered(file, work, jobs):
            some: _Some = done.answer
            bar.add(len(some.trials), done.bytes)
            remarks.add(some.told)
            readings.join(some.readings)
            judges |= some.judges
            errored += some.errored
            trials.update(some.trials)
            tables.append(some.cases)
    remarks.say_the_rest()
    say_readings(readings)
    if remarks.bad:
        raise CommandError(Exit.DATA, f"{name}: {_unread(remarks.bad)}, so no decision is made")
    if not trials:
        raise CommandError(Exit.DATA, f"{name}: holds no case")
    if twice := next((key for key, count in trials.items() if count > 1), None):
        example, trial = twice
        raise CommandError(Exit.DATA, f"{name}: trial {trial} of {example} appears twice")
    return GradedFile(CaseTable.joined(tables), judges, errored)


class _Some(NamedTuple):
    """Some graded lines: what a gate needs of them, and what is to be said of them."""

    cases: CaseTable
    trials: list[tuple[str, int]]
    judges: set[tuple[str, str, bool]]
    errored: list[str]
    told: LineRemarks
    readings: Readings


def _work(metrics: frozenset[str]) -> Callable[[Sequence[bytes], int], _Some]:
    """Return what grades some lines with these metrics."""
    grading = _EitherRow(metrics)

    def grade(lines: Sequence[bytes], first: int) -> _Some:
        rows = Lines(lines, first, grading)
        judges, trials = set[tuple[str, str, bool]](), list[tuple[str, int]]()
        errored: list[str] = []

        def seen() -> Iterator[Case]:
            # One after the other: rows that are held together are many objects for the search for garbage.
            for case in rows:
                judges.update(judges_in(case.grade.judged.values()))
                trials.append((case.id, case.trial))
                if case.grade.statuses["outcome"] == "errored":
                    errored.append(case.grade.verdicts["outcome"].reason)
                yield case

        return _Some(gate_cases(seen()), trials, judges, errored, rows.told, grading.native.taken_readings())

    return grade


def json_rows(name: str) -> list[JsonObject]:
    """Return a file's rows as they stand there. Raises CommandError where a line is none."""
    remarks = Remarks()
    rows: list[JsonObject] = []
    with opened(name) as file:
        for done in answered(file, lambda: lambda lines, first: Lines(lines, first, _AnyRow()), jobs=1):
            rows += done.answer
            remarks.add(done.answer.told)
    if remarks.bad or not rows:
        words = _unread(remarks.bad) if remarks.bad else "holds no example"
        raise CommandError(Exit.DATA, f"{name}: {words}")
    return rows


def gate_cases(rows: Iterable[Case]) -> CaseTable:
    """Return graded rows as a gate sees them."""
    return CaseTable.of(
        case_of_grade(
            row.id,
            row.grade,
            trial=row.trial,
            strata=row.strata,
            runtime_ms=row.latency_ms,
            cost=row.cost,
            tokens=row.tokens,
            due=row.due,
            metrics=row.metrics,
        )
        for row in rows
    )


def _unread(lines: int) -> str:
    return "1 line cannot be read" if lines == 1 else f"{lines:,} lines cannot be read"


class _AnyRow:
    """Takes examples as they are."""

    def read(self, row: object) -> Any:
        native_row(row)
        return row

    def remark(self, graded: object) -> None:
        return None


class _EitherRow:
    """Reads a row that is graded already, or grades it."""

    def __init__(self, metrics: Collection[str]) -> None:
        self.native = NativeGrading(metrics=metrics, is_json=True)

    def read(self, row: object) -> Case:
        return _graded(row) if isinstance(row, dict) and "verdicts" in row else self.native.read(row)

    def remark(self, graded: object) -> None:
        return None


def _graded(row: JsonObject) -> Case:
    example, trial, strata, latency, due, metrics, tokens, cost = (row.get(name) for name in _BESIDE)
    if not isinstance(example, str) or not example:
        raise InvalidDocument.at("/id", "is not text")
    if trial is not None and (not isinstance(trial, int) or isinstance(trial, bool) or trial < 0):
        raise InvalidDocument.at("/trial", "is not a whole number from 0 on")
    if strata is not None and not (isinstance(strata, dict) and all(isinstance(each, str) for each in strata.values())):
        raise InvalidDocument.at("/strata", "is not an object of texts")
    for name, taken in (("latency_ms", latency), ("tokens", tokens), ("cost", cost)):
        if taken is not None and (isinstance(taken, bool) or not isinstance(taken, int | float) or taken < 0):
            raise InvalidDocument.at(f"/{name}", "is not a number from 0 on")
    if due is not None and not isinstance(due, str):
        raise InvalidDocument.at("/due", "is not text")
    grade = CaseGrade.from_document({key: value for key, value in row.items() if key not in (*_BESIDE, "left_out")})
    known = strata or {}, latency, due or "", _metrics(metrics or {})
    return Case(example, trial or 0, grade, *known, tokens=tokens, cost=cost)


def _metrics(document: object) -> dict[str, Verdict]:
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
