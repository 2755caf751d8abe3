"""Grading a part of a run: compile each expectation once, grade every trial with it, write all verdicts at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from uuid_utils.compat import uuid7

from labeling.models import Gold, VersionEntry
from toolevals.grading.canonical import digest
from toolevals.grading.engine import CompiledCase, compile_case, grade
from toolevals.grading.execution import Effect
from toolevals.grading.values import Expectation, ToolSpec, Transcript
from toolevals.grading.verdicts import VERDICT_NAMES, CaseGrade, Verdict
from toolevals.registry.models import ToolList
from toolevals.registry.tool_lists import tools_in
from toolevals.runs import models
from toolevals.runs.offers import tools_offered
from toolevals.runs.simulating import effects_of
from toolevals.workspace.bulk import rows_insert
from toolevals.workspace.jobs import Lease

FACTS = ("tag", "mode", "expected", "actual")
CASE_COLUMNS = ("id", "grading_id", "transcript_id", *VERDICT_NAMES, *FACTS, "bucket", "difficulty", "detail")
PAIR_COLUMNS = ("grading_id", "case_id", "number", "expected", "actual", "arguments", "bucket", "difficulty")
NOT_IN_VERSION = "This version of the dataset does not hold what the subject was shown."


def cases_grade(lease: Lease) -> None:
    """Grade the batch's transcripts. Reading and grading take no lock; one short transaction writes and completes."""
    gradings = models.Grading.objects.select_related("run__subject__tools__tools", "simulator")
    grading = gradings.get(pk=lease.payload["grading"])
    graded = list(graded_cases(grading, lease.payload["start"], lease.payload["stop"]))
    with lease.finish():
        rows_insert(models.CaseGrade, CASE_COLUMNS, (_case_row(grading, case) for case in graded))
        rows_insert(models.AlignedPair, PAIR_COLUMNS, pair_rows(grading, graded))


@dataclass(frozen=True, slots=True)
class Graded:
    """A grade, what its rows repeat of the example, and what it was made from.

    `compiled` is None where the version holds nothing to compare with, `transcript` where no prediction came, `effect`
    where nothing executes calls.
    """

    id: UUID
    transcript_id: UUID
    grade: CaseGrade
    bucket: str
    difficulty: str
    revision_id: UUID
    compiled: CompiledCase | None
    transcript: Transcript | None
    effect: Effect | None = None

    def with_grade(self, grade: CaseGrade, case_id: UUID) -> Graded:
        """Return the same with another grade, under the id of the row that holds it."""
        return replace(self, grade=grade, id=case_id)


def graded_cases(grading: models.Grading, start: int, stop: int) -> Iterator[Graded]:
    """Yield the grades of the transcripts at these positions, in the order of the dataset version."""
    found = models.Transcript.objects.of_run(grading.run).at_positions(start, stop)
    # What an example shows the subject is needed only where its calls are replayed.
    transcripts = list(found if grading.simulator is None else found.defer(None))
    golds = _golds(grading, {transcript.entry.revision_id for transcript in transcripts})
    compiler = _Compiler(grading.run.subject)
    with effects_of(grading.simulator) as effects:
        for transcript in transcripts:
            revision = transcript.entry.revision
            gold = golds.get(revision.pk)
            strata = revision.example.bucket, revision.example.difficulty
            compiled = None if gold is None else compiler.case(gold, revision.tools)
            did = _read(transcript.document)
            effect = None if compiled is None else effects.of(revision, compiled.expectation, did)
            case = NOTHING_TO_COMPARE if compiled is None else grade(compiled, did, effect=effect)
            yield Graded(uuid7(), transcript.pk, case, *strata, revision.pk, compiled, did, effect)


def _golds(grading: models.Grading, revisions: Iterable[UUID]) -> dict[UUID, Gold]:
    """Return the gold of each revision in the version that is graded against, which may be newer than the run's."""
    entries = VersionEntry.objects.filter(version=grading.dataset_version_id, revision__in=list(revisions))
    return {entry.revision_id: entry.gold for entry in entries.select_related("gold")}


def _read(document: Any) -> Transcript | None:
    return None if document is None else Transcript.from_document(document)


class _Compiler:
    """Compiles each pair of expectation and offered tools once."""

    def __init__(self, subject: models.Subject) -> None:
        self._subject = subject
        self._offers: dict[str, tuple[ToolSpec, ...]] = {}
        self._cases: dict[tuple[str, str], CompiledCase] = {}

    def case(self, gold: Gold, tools: ToolList) -> CompiledCase:
        """Return the compiled case. The schema gate is the subject's, where its tools are worded otherwise."""
        key = digest(gold.expectation), tools.digest
        if key not in self._cases:
            if tools.digest not in self._offers:
                self._offers[tools.digest] = tools_offered(tools_in(tools), self._subject)
            expectation = Expectation.from_document(gold.expectation)
            self._cases[key] = compile_case(expectation, self._offers[tools.digest])
        return self._cases[key]


def _unscored(reason: str) -> CaseGrade:
    return CaseGrade({name: Verdict("unscored", None, reason) for name in VERDICT_NAMES})


# The example was changed or taken out after the run: there is nothing to compare with, and that is said.
NOTHING_TO_COMPARE = _unscored(NOT_IN_VERSION)


def _case_row(grading: models.Grading, case: Graded) -> tuple[Any, ...]:
    verdicts = (case.grade.verdicts[name].status for name in VERDICT_NAMES)
    facts = (getattr(case.grade, name) for name in FACTS)
    detail = case.grade.to_document()
    return (case.id, grading.pk, case.transcript_id, *verdicts, *facts, case.bucket, case.difficulty, detail)


def pair_rows(grading: models.Grading, cases: Iterable[Graded]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the cases' aligned pairs, in the order of PAIR_COLUMNS."""
    for case in cases:
        for number, pair in enumerate(case.grade.pairs):
            yield (
                grading.pk,
                case.id,
                number,
                pair.expected,
                pair.actual,
                pair.arguments,
                case.bucket,
                case.difficulty,
            )
