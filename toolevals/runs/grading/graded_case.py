"""Hold one graded case: its grade, what its rows repeat of the example, and what it was made from.

Trials of an example in which an agent did the same are graded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import UUID

from toolevals.grading.engine.case_metrics import METRICS, case_metrics
from toolevals.grading.engine.grading import CompiledCase, CutOff
from toolevals.grading.guard.transcripts import PatternFindings
from toolevals.grading.layers.execution import Effect
from toolevals.grading.values import Transcript
from toolevals.grading.values.canonical import Written, exact
from toolevals.grading.values.verdicts import CaseGrade
from toolevals.runs.aggregates.packed_cases import measured_text

# What a conversation took changes no verdict and no metric.
_TOOK: Final = frozenset({"usage", "latency_ms"})


@dataclass(slots=True)
class Told:
    """The rows of a grade that are made once for all trials that have it: None and empty until they are.

    `rows` are those of the case, its pairs, faults and findings, without the ids that they begin with.
    """

    detail: Written | None = None
    values: str = ""
    rows: tuple[Sequence[tuple[Any, ...]], ...] | None = None


def answer_of(document: Any) -> str:
    """Return what a transcript's document says but what the conversation took; empty where no prediction came."""
    if document is None:
        return ""
    return exact({name: value for name, value in document.items() if name not in _TOOK})


@dataclass(frozen=True, slots=True)
class Graded:
    """A grade, what its rows repeat of the example, and what it was made from.

    `compiled` is None where the version holds nothing to compare with, `transcript` where no prediction came, `effect`
    where nothing executes calls. `goal` is what the user asked for first. `patterns` are what those of the grading's
    policy match. `measured` are its values, empty where they are still to be found. `told` is shared with the trials
    that have the same grade, because they did the same.
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
    cut_off: CutOff = "failed"
    goal: str | None = None
    measured: str = ""
    patterns: PatternFindings | None = None
    told: Told = field(default_factory=Told, repr=False, compare=False)

    def values(self, grade: CaseGrade | None = None, compiled: CompiledCase | None = None) -> str:
        """Return the text of the case's values; of another grade of it, made with other words for its arguments."""
        if self.measured:
            return self.measured
        if grade is None and compiled is None:
            self.told.values = self.told.values or self._values(self.grade, self.compiled)
            return self.told.values
        return self._values(grade or self.grade, compiled or self.compiled)

    def detail(self) -> Written:
        """Return the text of the whole grade."""
        if self.told.detail is None:
            self.told.detail = Written(exact(self.grade.to_document()))
        return self.told.detail

    def _values(self, made: CaseGrade, compiled: CompiledCase | None) -> str:
        if compiled is None:
            return measured_text(dict.fromkeys(METRICS, made.outcome), made)
        found = case_metrics(compiled, self.transcript, made, goal=self.goal, patterns=self.patterns)
        return measured_text(found, made)

    def with_grade(self, grade: CaseGrade, case_id: UUID) -> Graded:
        """Return the same with another grade, under the id of the row that holds it."""
        return replace(self, grade=grade, id=case_id, told=Told())
