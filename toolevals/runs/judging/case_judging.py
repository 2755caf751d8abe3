"""Judge a part of a grading: ask what rules left open, and grade every case with the answers.

Nothing is asked twice, several questions are asked at once, and each answer is kept as soon as it is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from uuid import UUID

from toolevals.agents.judge import JudgeReply
from toolevals.grading.judging import Judgement, JudgementRequest
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.grading.values.verdicts import CaseGrade, Injection
from toolevals.runs import models
from toolevals.runs.grading.case_grading import graded_cases
from toolevals.runs.grading.case_rows import (
    FACTS,
    FAULT_COLUMNS,
    FINDING_COLUMNS,
    JUDGED_COLUMNS,
    PAIR_COLUMNS,
    fault_rows,
    finding_rows,
    judged_rows,
    pair_rows,
)
from toolevals.runs.grading.graded_case import Graded
from toolevals.runs.grading.kept_grades import kept_grades
from toolevals.runs.judging.bench import Member, bench
from toolevals.runs.judging.cases import Told, told_cases
from toolevals.runs.judging.concurrent_questions import Question, answer_columns, ask_concurrently
from toolevals.workspace.bulk import rows_insert
from toolevals.workspace.jobs.leases import Lease

# By the name of the rubric and the digest of the inputs.
Key = tuple[str, str]
# An answer can raise another question; so often is looked for more.
MOST_ROUNDS = 10


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

    def _heard(self, requests: Iterable[JudgementRequest]) -> Iterator[tuple[JudgementRequest, JudgeReply]]:
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

    def _keep(self, request: JudgementRequest, heard: JudgeReply) -> None:
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


def cases_judge(lease: Lease) -> None:
    """Ask the grading's judges about the batch's cases, then write what these are worth with the answers.

    Each answer is kept as soon as it is there, so that an attempt that was cut short asks nothing again. A judge that
    cannot be had leaves its own column errored: no run fails for it.
    """
    grading = models.Grading.objects.select_related("run__agent__tools__tools", "run__project").get(
        pk=lease.payload["grading"]
    )
    ask = lease.payload.get("ask")
    with bench(grading) as members:
        judges = [(member.seat, member.rubric) for name, member in members.items() if ask in (None, name)]
        kept = kept_grades(grading, lease.payload)
        places = lease.payload["start"], lease.payload["stop"]
        graded = graded_cases(grading, *places, kept=kept, waiting=lease.note, replays=ask is None)
        told = list(told_cases(graded, judges))
        # What is kept was judged with what it is kept from, but for the judge that is asked now.
        cases = [case for case in told if ask is not None or case.graded.transcript_id not in kept]
        asking = Asking(lease, grading, members)
        _ask(lease, asking, cases)
    judged, values = [], {}
    for case in cases:
        if heard := case.judged(asking.made, _left(asking, case), kept=ask is not None):
            judged.append((case.graded, heard.grade))
            values[case.graded.transcript_id] = case.graded.values(heard.grade, heard.applied)
    injections = {case.graded.transcript_id: case.injections() for case in told}
    _write(lease, grading, judged, values, {transcript: found for transcript, found in injections.items() if found})


def _ask(lease: Lease, asking: Asking, cases: Sequence[Told]) -> None:
    waiting = list(cases)
    for _ in range(MOST_ROUNDS):
        open_cases = []
        requests = []
        for case in waiting:
            missing = [
                each for each in case.missing(asking.made) if (each.rubric.name, each.digest) not in asking.refused
            ]
            if missing:
                open_cases.append(case)
                requests += missing
        with lease.transaction():
            lease.progress(len(cases) - len(open_cases))
        if not requests:
            return
        asking.ask(requests)
        waiting = open_cases


def _left(asking: Asking, case: Told) -> dict[str, str]:
    """Return why a case's questions were not asked, by rubric."""
    if not asking.refused:
        return {}
    keys = [(request.rubric.name, request.digest) for request in case.missing(asking.made)]
    return {key[0]: asking.refused[key] for key in keys if key in asking.refused}


def _write(
    lease: Lease,
    grading: models.Grading,
    judged: Sequence[tuple[Graded, CaseGrade]],
    values: Mapping[UUID, str],
    injections: Mapping[UUID, Sequence[Injection]],
) -> None:
    written = {graded.transcript_id for graded, _ in judged} | injections.keys()
    rows = {
        row.transcript_id: row for row in models.CaseGrade.objects.filter(grading=grading, transcript__in=list(written))
    }
    realigned = []
    for graded, found in judged:
        row = rows[graded.transcript_id]
        _fill(row, found)
        row.measured = values[graded.transcript_id]
        if (found.pairs, found.differences) != (graded.grade.pairs, graded.grade.differences):
            realigned.append(graded.with_grade(found, row.pk))
    for transcript, found_in in injections.items():
        row = rows[transcript]
        row.injection = found_in[0].kind.value
        row.detail = {**row.detail, "injections": [each.to_document() for each in found_in]}
    columns = [*VERDICT_NAMES, *FACTS, "injection", "measured", "detail"]
    with lease.finish():
        models.CaseGrade.objects.bulk_update(rows.values(), columns, batch_size=100)
        for model, names, rows_of in (
            (models.AlignedPair, PAIR_COLUMNS, pair_rows),
            (models.ArgumentFault, FAULT_COLUMNS, fault_rows),
            (models.CaseFinding, FINDING_COLUMNS, finding_rows),
        ):
            model.objects.filter(case__in=[each.id for each in realigned]).delete()
            rows_insert(model, names, rows_of(grading, realigned))
        said = (graded.with_grade(found, rows[graded.transcript_id].pk) for graded, found in judged)
        rows_insert(models.JudgedCase, JUDGED_COLUMNS, (row for case in said for row in judged_rows(grading, case)))


def _fill(row: models.CaseGrade, found: CaseGrade) -> None:
    for name in VERDICT_NAMES:
        setattr(row, name, found.verdicts[name].status)
    for name in FACTS:
        setattr(row, name, getattr(found, name))
    row.detail = found.to_document()
