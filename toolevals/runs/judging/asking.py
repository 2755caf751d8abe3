"""Ask judges: nothing twice, several at once, each answer kept as soon as it is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from toolevals.agents.judge import Heard
from toolevals.grading.judging import Judgement, JudgementRequest
from toolevals.runs import models
from toolevals.runs.judging.bench import Member
from toolevals.runs.judging.concurrent_questions import Question, answer_columns, ask_concurrently
from toolevals.workspace.jobs import Lease

# By the name of the rubric and the digest of the inputs.
Key = tuple[str, str]


class Asking:
    """The questions of one batch. `made` holds what is known, `refused` why a question is not asked."""

    def __init__(self, lease: Lease, grading: models.Grading, members: Mapping[str, Member]) -> None:
        self._lease = lease
        self._grading = grading
        self._members = members
        self.made: dict[Key, Judgement] = {}
        self.refused: dict[Key, str] = {}

    def ask(self, requests: Iterable[JudgementRequest]) -> None:
        """Have these answered, or refused at a judge's cap. Raises as `ask_concurrently` and LeaseLost."""
        wanted = {(request.rubric.name, request.digest): request for request in requests}
        for key in self.made.keys() | self.refused.keys():
            wanted.pop(key, None)
        self._recall(wanted)
        for request, heard in self._heard(request for key, request in wanted.items() if key not in self.made):
            self._keep(request, heard)

    def _recall(self, wanted: Mapping[Key, JudgementRequest]) -> None:
        for name, member in self._members.items():
            digests = [digest for rubric, digest in wanted if rubric == name]
            rows = models.Judgement.objects.usable_by(self._grading, member.row.rubric_id, member.row.model, digests)
            for row in rows if digests else ():
                self.made[name, row.inputs] = judgement_of(row, member)

    def _heard(self, requests: Iterable[JudgementRequest]) -> Iterator[tuple[JudgementRequest, Heard]]:
        def affordable() -> Iterator[Question[JudgementRequest]]:
            for request in requests:
                member = self._members[request.rubric.name]
                if self._has_money(member):
                    yield Question(request, member.judge, request)
                else:
                    self.refused[request.rubric.name, request.digest] = member.seat.too_dear

        return ask_concurrently(affordable(), self._lease)

    def _has_money(self, member: Member) -> bool:
        if member.seat.budget is None:
            return True
        spent = models.Judgement.objects.spent_on(self._grading, member.row.rubric_id, member.row.model)
        return bool((spent["cost"] or 0.0) < member.seat.budget)

    def _keep(self, request: JudgementRequest, heard: Heard) -> None:
        member, judgement = self._members[request.rubric.name], heard.judgement
        with self._lease.keeping():
            models.Judgement.objects.update_or_create(
                rubric_id=member.row.rubric_id,
                model=member.row.model,
                inputs=request.digest,
                defaults={
                    "grading": self._grading,
                    "answer": dict(judgement.answer),
                    **answer_columns(heard, member.prices),
                },
            )
        self.made[request.rubric.name, request.digest] = judgement


def judgement_of(row: models.Judgement, member: Member) -> Judgement:
    """Return a kept judgement as the core takes it."""
    return Judgement(
        rubric=member.rubric.name,
        inputs=row.inputs,
        value=row.value,
        reason=row.reason,
        answer=row.answer,
        error=row.error,
        model=row.model,
        pinned=member.row.is_pinned,
    )
