"""Ask a judge the same questions again, to see whether its answers have changed.

Kept answers of gradings are not looked at, and none is kept for them. Each answer of a check is kept as it comes, so
that an attempt that was cut short asks nothing again.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from django.db import transaction
from django.urls import reverse

from toolevals.agents.judge import Judge as Asked
from toolevals.agents.prices import Prices
from toolevals.grading.judging import JudgementRequest, Rubric
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.runs.drift.results import DriftCounts, cases_again, counted
from toolevals.runs.judging.bench import judge_opened
from toolevals.runs.judging.concurrent_questions import Question, answer_columns, ask_concurrently, has_money
from toolevals.runs.judging.judge_reliability import Drift
from toolevals.runs.models import CalibratedCase, DriftAnswer, DriftCheck, Judge, JudgeCalibration
from toolevals.workspace.addresses import address
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import Lease
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import EventKind, Queue, User
from toolevals.workspace.notifications.events import event_note

# Cases of a batch.
SLICE = 20
# A case, and which of its questions, from 0.
Place = tuple[CalibratedCase, int]


@transaction.atomic
def drift_begin(
    *, judge: Judge, calibration: JudgeCalibration, actor: User | None, budget: float | None = None
) -> DriftCheck:
    """Begin to ask a judge again about every case of a closed calibration of its rubric version and model.

    `budget` caps what the check may cost, in the currency of the judge's prices. Raises InvalidDocument where the
    calibration is open, another judge's or without a case that can be asked, where the cap has no prices, and while
    another check of this rubric version and model goes on.
    """
    # One at a time.
    Judge.objects.select_for_update(no_key=True).get(pk=judge.pk)
    places = list(calibration.cases.drawn().values_list("position", flat=True))
    if problems := list(_problems(judge, calibration, budget, places)):
        raise InvalidDocument(problems)
    check = DriftCheck.objects.create(judge=judge, calibration=calibration, budget=budget, actor=actor)
    project = judge.project
    check.job = job_create(
        project=project,
        actor=actor,
        kind="drift",
        title=f"{judge.name}: {len(places)} cases asked again",
        batches=_plans(check, places),
        result_path=reverse("runs:drift", args=[project.slug, check.pk]),
    )
    check.save(update_fields=["job"])
    detail = {"judge": judge.name, "calibration": str(calibration.pk), "cases": len(places), "budget": budget}
    audit_record(project=project, actor=actor, verb="drift_begin", target=check, detail=detail)
    return check


def drift_ask(lease: Lease) -> None:
    """Ask the judge again about the batch's cases, but for what this check was answered already."""
    check = DriftCheck.objects.select_related("judge__rubric", "judge__project").get(pk=lease.payload["drift"])
    rubric = Rubric.from_document(check.judge.rubric.document)
    rows = list(CalibratedCase.objects.filter(calibration=check.calibration_id, position__in=lease.payload["places"]))
    kept = set(check.answers.filter(case__in=rows).values_list("case", "place"))
    left = [(row, place) for row in rows for place in range(len(row.questions)) if (row.pk, place) not in kept]
    open_questions = Counter(row.pk for row, _ in left)
    prices = Prices.from_document(check.judge.prices) if check.judge.prices else None
    with ExitStack() as opened:
        asked = judge_opened(check.judge, rubric, opened)
        for (row, place), heard in ask_concurrently(_questions(check, rubric, asked, left), lease):
            open_questions[row.pk] -= 1
            with lease.keeping(len(rows) - len(+open_questions)):
                DriftAnswer.objects.create(drift=check, case=row, place=place, **answer_columns(heard, prices))


def drift_count(lease: Lease) -> None:
    """Count a check whose questions were all asked, or refused for its cap."""
    check = DriftCheck.objects.select_related("judge__rubric", "judge__project", "calibration").get(
        pk=lease.payload["drift"]
    )
    found = counted(cases_again(check))
    with lease.finish():
        DriftCheck.objects.filter(pk=check.pk).update(counts=found.to_document(), finished_at=database_now())
        _drift_note(check, found)


def _drift_note(check: DriftCheck, found: DriftCounts) -> None:
    """Note that a judge drifted, by its tolerance or next to people."""
    judge = check.judge
    words = Drift(check, found, judge.measure, judge.threshold, judge.tolerance).words if found.changes.compared else ""
    if words:
        event_note(
            project=judge.project,
            kind=EventKind.JUDGE_DRIFTED,
            summary=f"The judge {judge.name} {words}",
            path=address("runs:drift", judge.project.slug, check.pk),
            facts={"judge": judge.name, "changed": found.changes.changed, "compared": found.changes.compared},
        )


def _questions(check: DriftCheck, rubric: Rubric, asked: Asked, left: Sequence[Place]) -> Iterator[Question[Place]]:
    for row, place in left:
        if not has_money(check):
            return
        yield Question((row, place), asked, JudgementRequest(rubric, row.questions[place]))


def _problems(
    judge: Judge, calibration: JudgeCalibration, budget: float | None, places: Sequence[int]
) -> Iterator[Problem]:
    other = calibration.judge
    if (other.rubric_id, other.model) != (judge.rubric_id, judge.model):
        yield Problem("/calibration", "is not of this rubric version and model")
    elif calibration.is_open:
        yield Problem("/calibration", "is still open: people rate its cases without knowing what the judge says")
    elif not places:
        yield Problem("/calibration", "holds no case that can be asked again")
    if budget is not None and not (math.isfinite(budget) and budget >= 0):
        yield Problem("/budget", "must be a number from 0")
    elif budget is not None and not judge.prices:
        yield Problem("/budget", "needs prices: without them it is not known what was spent")
    if DriftCheck.objects.of_judge(judge).under_way().exists():
        yield Problem("", "A check of this rubric and model is still going on: wait for it, or cancel it.")


def _plans(check: DriftCheck, places: Sequence[int]) -> Iterator[BatchPlan]:
    for start in range(0, len(places), SLICE):
        part = list(places[start : start + SLICE])
        payload = {"drift": str(check.pk), "places": part}
        yield BatchPlan("runs.drift", payload, size=len(part), queue=Queue.JUDGE)
    yield BatchPlan("runs.drift_count", {"drift": str(check.pk)}, stage=1, queue=Queue.GRADE)
