"""Rebuild the questions that a judge was asked about a case, with its answers."""

from __future__ import annotations

from dataclasses import dataclass

from toolevals.grading.judging import Judgement, JudgementRequest, Rubric
from toolevals.runs.grading.case_grading import graded_cases
from toolevals.runs.judging.cases import Told, told_cases
from toolevals.runs.judging.judge_snapshots import JudgeSnapshot, seats_of
from toolevals.runs.models import CaseGrade, Grading, Judge
from toolevals.runs.models import Judgement as Kept

# An answer can raise another question; so often is looked for more.
MOST_ROUNDS = 10
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Answered:
    """The questions about one case, and the least value of their answers."""

    requests: tuple[JudgementRequest, ...]
    value: float


class Questions:
    """The questions of one rubric's judge in one grading."""

    def __init__(self, grading: Grading, rubric: str) -> None:
        rows = {
            str(row.pk): row
            for row in Judge.objects.filter(pk__in=[seat.judge for seat in seats_of(grading)]).select_related("rubric")
        }
        self._grading = grading
        self._rubric = rubric
        self._judges = {seat.rubric: (seat, rows[seat.judge]) for seat in seats_of(grading)}
        self._told: list[tuple[JudgeSnapshot, Rubric]] = [
            (seat, Rubric.from_document(row.rubric.document)) for seat, row in self._judges.values()
        ]

    def of(self, case: CaseGrade) -> Answered | None:
        """Return what was asked about a case of the grading, read with `transcript__entry`.

        None where that cannot be had again: a grader or a simulator has changed since, or an answer is gone.
        """
        told = self._case(case)
        said = case.detail.get("judged", {}).get(self._rubric)
        if told is None or not said:
            return None
        found, made = self._walked(told)
        requests = tuple(found[key] for digest in said["asked"] if (key := (self._rubric, digest)) in found)
        values = [made[self._rubric, request.digest].value for request in requests]
        known = [value for value in values if value is not None]
        if len(known) < len(said["asked"]) or not known:
            return None
        return Answered(requests, min(known))

    def _case(self, case: CaseGrade) -> Told | None:
        position = case.transcript.entry.position
        graded = [
            each
            for each in graded_cases(self._grading, position, position + 1)
            if each.transcript_id == case.transcript_id
        ]
        return next(told_cases(graded, self._told), None)

    def _walked(self, told: Told) -> tuple[dict[Key, JudgementRequest], dict[Key, Judgement]]:
        """Ask the kept answers what judges were asked, until they raise no further question."""
        requests: dict[Key, JudgementRequest] = {}
        made: dict[Key, Judgement] = {}
        for _ in range(MOST_ROUNDS):
            missing = {(each.rubric.name, each.digest): each for each in told.missing(made)}
            answers = self._kept(missing)
            requests |= missing
            if not answers:
                break
            made |= answers
        return {key: request for key, request in requests.items() if key in made}, made

    def _kept(self, wanted: dict[Key, JudgementRequest]) -> dict[Key, Judgement]:
        made: dict[Key, Judgement] = {}
        for name, (_, judge) in self._judges.items():
            digests = [digest for rubric, digest in wanted if rubric == name]
            rows = Kept.objects.usable_by(self._grading, judge.rubric_id, judge.model, digests)
            for row in rows if digests else ():
                made[name, row.inputs] = Judgement(name, row.inputs, row.value, row.reason, row.answer, row.error)
        return made
