"""Try a rubric on a few cases before it is used: nothing is written into any grading, and no kept answer is used."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from random import Random

from django.db import transaction
from django.db.models import Sum
from django.urls import reverse

from toolevals.agents.judge import Judge as Asked
from toolevals.agents.prices import Prices
from toolevals.grading.judging import JudgementRequest, Rubric
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping
from toolevals.runs.grading.case_grading import graded_cases
from toolevals.runs.judging.bench import judge_opened
from toolevals.runs.judging.blindness import hidden_examples
from toolevals.runs.judging.cases import told_cases
from toolevals.runs.judging.concurrent_questions import Question, answer_columns, ask_concurrently
from toolevals.runs.judging.judge_snapshots import JudgeSnapshot
from toolevals.runs.models import CaseGrade, Grading, Judge, Thumb, Tryout, TryoutAnswer, TryoutCase
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import Lease
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Project, Queue, User

# Cases of a try.
CASES = 10
# Examples that are looked at until so many are found behind the rubric's gate.
MOST_LOOKED_AT = 300
Place = tuple[TryoutCase, int]


@dataclass(frozen=True, slots=True)
class TryoutRequest:
    """The parts of a try: a rubric's document, a finished grading, a judge's connection.

    `seed` is any text, that of the day where empty; `budget` caps the cost in the currency of the judge's prices.
    With `thumbs`, cases come first to whose verdict by a rubric of that name people gave a thumb down.
    """

    document: JsonMapping
    judge: Judge
    grading: Grading
    seed: str = ""
    budget: float | None = None
    thumbs: bool = False


@transaction.atomic
def tryout_begin(*, project: Project, actor: User | None, request: TryoutRequest) -> Tryout:
    """Begin to try a rubric on up to ten cases. The rubric is not kept. Raises InvalidDocument."""
    # What is tried has no version yet.
    rubric = Rubric.from_document({**request.document, "version": request.document.get("version") or 1})
    if problems := list(_problems(project, request)):
        raise InvalidDocument(problems)
    tryout = Tryout.objects.create(
        project=project,
        document=rubric.to_document(),
        judge=request.judge,
        grading=request.grading,
        seed=request.seed.strip() or database_now().date().isoformat(),
        budget=request.budget,
        thumbs=request.thumbs,
        actor=actor,
    )
    payload = {"tryout": str(tryout.pk)}
    tryout.job = job_create(
        project=project,
        actor=actor,
        kind="tryout",
        title=f"{rubric.title}: tried on {CASES} cases",
        batches=[
            BatchPlan("runs.tryout_draw", payload, size=CASES, queue=Queue.GRADE),
            BatchPlan("runs.tryout_ask", payload, size=CASES, stage=1, queue=Queue.JUDGE),
        ],
        result_path=reverse("runs:tryout", args=[project.slug, tryout.pk]),
    )
    tryout.save(update_fields=["job"])
    detail = {"rubric": rubric.name, "judge": request.judge.name}
    audit_record(project=project, actor=actor, verb="tryout_begin", target=tryout, detail=detail)
    return tryout


def tryout_draw(lease: Lease) -> None:
    """Look at examples by chance until ten are found that the rubric asks about, of each of them one trial.

    Where thumbs are wanted, theirs are the first.
    """
    tryout = _tryout(lease)
    rubric = Rubric.from_document(tryout.document)
    random = Random(f"tryout {tryout.seed}")  # noqa: S311 - a sample, no secret
    run = tryout.grading.run
    places = list(run.only) if run.only is not None else list(range(run.dataset_version.size))
    hidden = hidden_examples(rubric.name)
    drawn: list[TryoutCase] = []
    looked_at = 0
    thumbs = Thumb.objects.counted().filter(is_up=False, rubric=rubric.name, case__grading=tryout.grading)
    entry = "case__transcript__entry__position"
    down = dict(thumbs.order_by("pk").values_list("case__transcript", entry)) if tryout.thumbs else {}
    first = random.sample(wanted := sorted({*down.values()} & {*places}), len(wanted))
    others = sorted({*places} - {*wanted}) if wanted else places
    for place in [*first, *random.sample(others, min(len(others), MOST_LOOKED_AT))][:MOST_LOOKED_AT]:
        looked_at += 1
        cases = [each for each in graded_cases(tryout.grading, place, place + 1) if each.revision_id not in hidden]
        told = list(told_cases(cases, [(_seat(tryout.judge, rubric), rubric)]))
        asked = [(each.graded, requests) for each in told if (requests := each.missing({}))]
        if asked:
            graded, requests = random.choice([one for one in asked if one[0].transcript_id in down] or asked)
            row = CaseGrade.objects.get(grading=tryout.grading, transcript=graded.transcript_id)
            questions = [dict(request.inputs) for request in requests]
            drawn.append(TryoutCase(tryout=tryout, position=len(drawn) + 1, case=row, questions=questions))
        with lease.transaction():
            lease.progress(len(drawn))
        if len(drawn) == CASES:
            break
    with lease.finish():
        TryoutCase.objects.bulk_create(drawn)
        Tryout.objects.filter(pk=tryout.pk).update(looked_at=looked_at)


def tryout_ask(lease: Lease) -> None:
    """Ask about the cases that were drawn, but for what was answered already; each answer is kept as it comes."""
    tryout = _tryout(lease)
    rubric = Rubric.from_document(tryout.document)
    rows = list(tryout.cases.prefetch_related("answers"))
    kept = {(answer.case_id, answer.place) for row in rows for answer in row.answers.all()}
    left = [(row, place) for row in rows for place in range(len(row.questions)) if (row.pk, place) not in kept]
    open_questions = Counter(row.pk for row, _ in left)
    prices = Prices.from_document(tryout.judge.prices) if tryout.judge.prices else None
    with ExitStack() as opened:
        asked = judge_opened(tryout.judge, rubric, opened)
        for (row, place), heard in ask_concurrently(_questions(tryout, rubric, asked, left), lease):
            open_questions[row.pk] -= 1
            columns = {**answer_columns(heard, prices), "answer": dict(heard.judgement.answer)}
            with lease.keeping(len(rows) - len(+open_questions)):
                TryoutAnswer.objects.create(case=row, place=place, **columns)
    with lease.finish():
        Tryout.objects.filter(pk=tryout.pk).update(finished_at=database_now())


def _tryout(lease: Lease) -> Tryout:
    related = "judge__project", "judge__rubric", "grading__run__agent__tools__tools", "grading__run__dataset_version"
    return Tryout.objects.select_related(*related, "grading__simulator").get(pk=lease.payload["tryout"])


def _seat(judge: Judge, rubric: Rubric) -> JudgeSnapshot:
    """Return the seat of a judge that asks by another rubric, about every example."""
    snapshot = replace(JudgeSnapshot.of(judge), rubric=rubric.name, version=rubric.version, title=rubric.title)
    return replace(snapshot, layer=rubric.layer, share=1.0, budget=None)


def _questions(tryout: Tryout, rubric: Rubric, asked: Asked, left: list[Place]) -> Iterator[Question[Place]]:
    answers = TryoutAnswer.objects.filter(case__tryout=tryout)
    for row, place in left:
        if tryout.budget is not None and (answers.aggregate(cost=Sum("cost"))["cost"] or 0.0) >= tryout.budget:
            return
        yield Question((row, place), asked, JudgementRequest(rubric, row.questions[place]))


def _problems(project: Project, request: TryoutRequest) -> Iterator[Problem]:
    judge, grading, budget = request.judge, request.grading, request.budget
    if judge.project_id != project.pk:
        yield Problem("/judge", "is not of this project")
    if grading.run.project_id != project.pk:
        yield Problem("/run", "is not of this project")
    elif grading.finished_at is None:
        yield Problem("/run", "is not graded yet")
    if len(request.seed) > 100 or "\0" in request.seed:
        yield Problem("/seed", "must be text of at most 100 characters")
    if budget is not None and not (math.isfinite(budget) and budget >= 0):
        yield Problem("/budget", "must be a number from 0")
    elif budget is not None and not judge.prices:
        yield Problem("/budget", "needs prices: without them it is not known what was spent")
