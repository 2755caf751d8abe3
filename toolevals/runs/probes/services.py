"""Ask a judge about transcripts without and with texts that speak to it.

Kept answers of gradings are not looked at, and none is kept for them. Each answer of a check is kept as it comes, so
that an attempt that was cut short asks nothing again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import ExitStack

from django.db import transaction
from django.urls import reverse

from toolevals.agents.judge import Judge as Asked
from toolevals.agents.prices import Prices
from toolevals.grading.judging import JudgementRequest, Rubric
from toolevals.grading.judging.probing import ProbeSet
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.runs.judging.bench import judge_opened
from toolevals.runs.judging.concurrent_questions import Question, answer_columns, ask_concurrently, has_money
from toolevals.runs.models import Judge, ProbeAnswer, ProbeCheck
from toolevals.runs.probes.results import probed
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import Lease
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Queue, User


@transaction.atomic
def probes_begin(*, judge: Judge, actor: User | None, budget: float | None = None) -> ProbeCheck:
    """Begin to ask a judge about every probe that its rubric is given the place of, and each transcript without one.

    `budget` caps what the check may cost, in the currency of the judge's prices. Raises InvalidDocument where the cap
    has no prices, and while another check of this rubric version and model goes on.
    """
    # One at a time.
    Judge.objects.select_for_update(no_key=True).get(pk=judge.pk)
    if problems := list(_problems(judge, budget)):
        raise InvalidDocument(problems)
    probes = ProbeSet.shipped()
    questions = probes.questions(Rubric.from_document(judge.rubric.document))
    check = ProbeCheck.objects.create(judge=judge, probes=probes.to_document(), budget=budget, actor=actor)
    project = judge.project
    payload = {"probes": str(check.pk)}
    check.job = job_create(
        project=project,
        actor=actor,
        kind="probes",
        title=f"{judge.name}: {len(questions)} questions with and without probes",
        batches=[BatchPlan("runs.probes", payload, size=len(questions), queue=Queue.JUDGE)],
        result_path=reverse("runs:probes", args=[project.slug, check.pk]),
    )
    check.save(update_fields=["job"])
    detail = {"judge": judge.name, "questions": len(questions), "budget": budget}
    audit_record(project=project, actor=actor, verb="probes_begin", target=check, detail=detail)
    return check


def probes_ask(lease: Lease) -> None:
    """Ask the judge what this check has no answer to yet; then count which probes move it."""
    check = ProbeCheck.objects.select_related("judge__rubric", "judge__project").get(pk=lease.payload["probes"])
    rubric = Rubric.from_document(check.judge.rubric.document)
    questions = ProbeSet.from_document(check.probes).questions(rubric)
    kept = set(check.answers.values_list("key", flat=True))
    left = {key: request for key, request in questions.items() if key not in kept}
    prices = Prices.from_document(check.judge.prices) if check.judge.prices else None
    with ExitStack() as opened:
        asked = judge_opened(check.judge, rubric, opened)
        for done, (key, heard) in enumerate(
            ask_concurrently(_questions(check, asked, left), lease), start=len(kept) + 1
        ):
            columns = {**answer_columns(heard, prices), "answer": dict(heard.judgement.answer)}
            with lease.keeping(done):
                ProbeAnswer.objects.create(probing=check, key=key, **columns)
    whole = probed(check).whole
    with lease.finish():
        ProbeCheck.objects.filter(pk=check.pk).update(
            moved=whole.moved, compared=whole.compared, finished_at=database_now()
        )


def _questions(check: ProbeCheck, asked: Asked, left: Mapping[str, JudgementRequest]) -> Iterator[Question[str]]:
    for key, request in left.items():
        if not has_money(check):
            return
        yield Question(key, asked, request)


def _problems(judge: Judge, budget: float | None) -> Iterator[Problem]:
    if budget is not None and not (math.isfinite(budget) and budget >= 0):
        yield Problem("/budget", "must be a number from 0")
    elif budget is not None and not judge.prices:
        yield Problem("/budget", "needs prices: without them it is not known what was spent")
    if ProbeCheck.objects.of_judge(judge).under_way().exists():
        yield Problem("", "A check of this rubric and model is still going on: wait for it, or cancel it.")
