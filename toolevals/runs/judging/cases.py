"""Prepare graded cases for judges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from labeling.models import Revision
from toolevals.grading.engine.compiled import CompiledCase
from toolevals.grading.guard.injections import injections_in
from toolevals.grading.judging import Briefing, Judgement, JudgementRequest, Judgements, Rubric, needed_judgements
from toolevals.grading.judging.case_judging import CaseJudging, grade_judged
from toolevals.grading.reading.parsing import transcript_in
from toolevals.grading.values import Transcript
from toolevals.grading.values.verdicts import CaseGrade, Injection
from toolevals.runs.judging.judge_snapshots import JudgeSnapshot

if TYPE_CHECKING:
    from toolevals.runs.grading.graded_case import Graded


@dataclass(frozen=True, slots=True)
class Heard:
    """A case with its judgements: its grade, and its expectation with the answers to criteria in words."""

    grade: CaseGrade
    applied: CompiledCase


@dataclass(frozen=True, slots=True)
class Told:
    """One graded case with what its judges are told."""

    graded: Graded
    briefing: Briefing

    def missing(self, made: Mapping[tuple[str, str], Judgement]) -> tuple[JudgementRequest, ...]:
        """Return what its judges have still to be asked."""
        if self.graded.compiled is None:
            return ()
        judgements = Judgements(self.briefing, made)
        return needed_judgements(self.graded.compiled, self.graded.transcript, self.graded.grade, judgements)

    def injections(self) -> list[Injection]:
        """Return the texts that speak to a judge in what judges may be given: the example, and what the agent did."""
        transcript = self.graded.transcript
        return injections_in(
            {
                "conversation": [message.to_document() for message in self.briefing.conversation],
                "context": dict(self.briefing.context),
                "done": [message.thought_document() for message in transcript.messages] if transcript else [],
                "answer": _unspoken(transcript),
            }
        )

    def judged(
        self, made: Mapping[tuple[str, str], Judgement], left_out: Mapping[str, str], *, kept: bool = False
    ) -> Heard | None:
        """Return the case with the judgements that were had; None where there is nothing to compare with.

        `kept` says that its grade is not made again.
        """
        if self.graded.compiled is None:
            return None
        briefing = self.briefing
        told = Briefing(briefing.rubrics, briefing.conversation, briefing.context, {**briefing.left_out, **left_out})
        given = Judgements(told, made)
        graded = self.graded
        plain = graded.grade if kept else None
        grade = grade_judged(
            self.graded.compiled, graded.transcript, given, effect=graded.effect, cut_off=graded.cut_off, plain=plain
        )
        if graded.transcript is None:
            return Heard(grade, self.graded.compiled)
        return Heard(grade, CaseJudging(self.graded.compiled, graded.transcript, graded.grade, given).applied)


def _unspoken(transcript: Transcript | None) -> str | None:
    """Return the final answer where it is none of the messages."""
    if transcript is None or any(message.content == transcript.answer for message in transcript.messages):
        return None
    return transcript.answer


def told_cases(cases: Iterable[Graded], judges: Iterable[tuple[JudgeSnapshot, Rubric]]) -> Iterator[Told]:
    """Yield graded cases with what the judges may know of their examples."""
    found, seated = list(cases), list(judges)
    inputs = _inputs({case.revision_id for case in found})
    rubrics = [rubric for _, rubric in seated]
    for case in found:
        given = inputs[case.revision_id]
        left_out = {seat.rubric: seat.left_out for seat, _ in seated if not seat.asks(case.revision_id, case.grade)}
        messages = transcript_in(given.get("messages", [])).messages
        yield Told(case, Briefing(rubrics, messages, given.get("context") or {}, left_out))


def _inputs(revisions: set[UUID]) -> dict[UUID, Any]:
    return dict(Revision.objects.filter(pk__in=revisions).values_list("pk", "input"))
