"""Compare a judge with people: draw its cases, take people's ratings, and close.

Ratings are written one by one, each in its own transaction, and never change: whatever process dies, none is lost.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from random import Random
from uuid import UUID

from django.db import transaction
from django.urls import reverse

from toolevals.grading.judging import Rubric
from toolevals.grading.judging.sampling import one_trial_each, stratified_sample
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonObject
from toolevals.runs.judge_calibrations.questions import Questions
from toolevals.runs.judge_calibrations.results import held_out_table
from toolevals.runs.judging.judge_snapshots import seats_of
from toolevals.runs.models import (
    CalibratedCase,
    CaseGrade,
    Grading,
    Judge,
    JudgeCalibration,
    JudgedCase,
    Rating,
    Rereading,
    Thumb,
)
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import Lease
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Project, Queue, User

USUAL_SIZE = 100
USUAL_RATERS = 3
MOST_CASES = 2_000
MOST_RATERS = 25
LONGEST_NOTE = 2_000
# Cases in one batch: each is graded again to see what its judge was given.
SLICE = 20


@dataclass(frozen=True, slots=True)
class CalibrationRequest:
    """The cases to draw a calibration from, and its size; `seed` is any text, that of the day where empty.

    With `thumbs`, the cases of the grading to which people gave a thumb down are rated as well, in no figure.
    """

    judge: Judge
    grading: Grading
    held_out: int = USUAL_SIZE
    tuning: int = 0
    raters: int = USUAL_RATERS
    seed: str = ""
    thumbs: bool = False


@transaction.atomic
def calibration_begin(*, request: CalibrationRequest, actor: User | None) -> JudgeCalibration:
    """Draw the cases of a new calibration; a job then works out what the judge was given in each.

    Of each example one trial is drawn. Raises InvalidDocument where a size is out of range, where the grading did not
    ask this rubric version and model, where it scored nothing, and while another of the same judge is open.
    """
    judge, grading = request.judge, request.grading
    if problems := list(_problems(request)):
        raise InvalidDocument(problems)
    # One at a time.
    Judge.objects.select_for_update(no_key=True).get(pk=judge.pk)
    same = JudgeCalibration.objects.open().filter(judge__rubric=judge.rubric_id, judge__model=judge.model)
    if same.exists():
        raise InvalidDocument.at("", "A calibration of this rubric and model is still open: close it first.")
    seed = request.seed.strip() or database_now().date().isoformat()
    strata = _strata(grading, judge.rubric.name, seed)
    if not any(strata.values()):
        raise InvalidDocument.at("/grading", "holds no case that this judge scored; switch it on and re-grade the run")
    calibration = JudgeCalibration.objects.create(
        judge=judge,
        grading=grading,
        raters=request.raters,
        seed=seed,
        drawn_from={name: len(cases) for name, cases in strata.items()},
        actor=actor,
    )
    passed = set(strata["passed"])
    drawn = stratified_sample(strata, held_out=request.held_out, tuning=request.tuning, seed=seed)
    rows = [CalibratedCase(case_id=each.case, is_held_out=each.held_out, passed=each.case in passed) for each in drawn]
    if request.thumbs:
        rows += _proposed(request, [each.case for each in drawn])
        # Their place must not tell which they are.
        Random(seed).shuffle(rows)  # noqa: S311 - an order, no secret
    for place, row in enumerate(rows, start=1):
        row.calibration, row.position = calibration, place
    CalibratedCase.objects.bulk_create(rows)
    project = judge.project
    calibration.job = job_create(
        project=project,
        actor=actor,
        kind="calibration",
        title=f"{judge.name}: {len(rows)} cases for raters",
        batches=_plans(calibration, len(rows)),
        result_path=reverse("runs:calibration", args=[project.slug, calibration.pk]),
    )
    calibration.save(update_fields=["job"])
    detail = {"judge": judge.name, "cases": len(rows), "raters": request.raters, "seed": seed}
    audit_record(project=project, actor=actor, verb="calibration_begin", target=calibration, detail=detail)
    return calibration


def calibration_prepare(lease: Lease) -> None:
    """Write down what the judge was given in the batch's cases."""
    calibration = JudgeCalibration.objects.select_related(
        "judge__rubric", "grading__run__agent__tools__tools", "grading__simulator"
    ).get(pk=lease.payload["calibration"])
    questions = Questions(calibration.grading, calibration.judge.rubric.name)
    places = range(lease.payload["start"], lease.payload["stop"])
    rows = list(calibration.cases.filter(position__in=places).select_related("case__transcript__entry"))
    for done, row in enumerate(rows, start=1):
        asked_questions = questions.of(row.case)
        row.questions = [dict(request.inputs) for request in asked_questions.requests] if asked_questions else []
        row.value = asked_questions.value if asked_questions else None
        with lease.transaction():
            lease.progress(done)
    with lease.finish():
        CalibratedCase.objects.bulk_update(rows, ["questions", "value"])


def case_rate(*, case: CalibratedCase, actor: User, value: float | None, note: str = "") -> Rating:
    """Keep what a person says of a case, once and for all; None says that they cannot tell. A retry adds nothing.

    The rating that completes a calibration closes it. Raises InvalidDocument where the value is not on the rubric's
    scale, where they have said something else before, where as many as it takes have rated the case, and once it is
    closed.
    """
    calibration = case.calibration
    if value is not None and not Rubric.from_document(calibration.judge.rubric.document).scale.admits(value):
        raise InvalidDocument.at("/value", "is not on the rubric's scale")
    if len(note) > LONGEST_NOTE or "\0" in note:
        raise InvalidDocument.at("/note", f"must be text of at most {LONGEST_NOTE:,} characters")
    said = {"value": value, "note": note.strip()}
    with transaction.atomic():
        # Ratings and the end of a calibration take turns.
        locked = JudgeCalibration.objects.select_for_update(no_key=True).get(pk=calibration.pk)
        if (own := Rating.objects.filter(case=case, rater=actor).first()) is not None:
            if own.said != said:
                raise InvalidDocument.at("", "You have rated this case: the first rating counts.")
            return own
        if not locked.is_open:
            raise InvalidDocument.at("", "This calibration is closed.")
        if not case.questions:
            raise InvalidDocument.at("", "This case cannot be rated: the judge’s input is missing.")
        had = Rating.objects.filter(case=case).count()
        if had >= locked.raters:
            raise InvalidDocument.at("", "This case already has enough ratings.")
        rating = Rating.objects.create(case=case, rater=actor, place=had + 1, **said)
        project = calibration.judge.project
        audit_record(project=project, actor=actor, verb="case_rate", target=rating, detail={"case": str(case.pk)})
        if _is_complete(locked):
            _close(locked)
    return rating


@transaction.atomic
def calibration_close(*, calibration: JudgeCalibration, actor: User | None) -> JudgeCalibration:
    """End a calibration with the ratings that it has. Closing twice is closing once.

    Raises InvalidDocument while its cases are still being prepared.
    """
    locked = JudgeCalibration.objects.select_for_update(no_key=True).get(pk=calibration.pk)
    if not locked.is_open:
        return locked
    if locked.job is not None and locked.job.is_open:
        raise InvalidDocument.at("", "Its cases are still being prepared: wait for that, or cancel it.")
    _close(locked)
    audit_record(project=calibration.judge.project, actor=actor, verb="calibration_close", target=locked)
    return locked


def _close(calibration: JudgeCalibration) -> None:
    calibration.closed_at = database_now()
    calibration.table = held_out_table(calibration)
    calibration.save(update_fields=["closed_at", "table"])


def _is_complete(calibration: JudgeCalibration) -> bool:
    if calibration.cases.filter(questions=None).exists():
        return False
    wanted = calibration.cases.ratable().count() * calibration.raters
    return Rating.objects.filter(case__calibration=calibration).count() >= wanted


def _problems(request: CalibrationRequest) -> Iterator[Problem]:
    judge, grading = request.judge, request.grading
    if not 1 <= request.held_out <= MOST_CASES:
        yield Problem("/held_out", f"must be from 1 to {MOST_CASES:,}")
    if not 0 <= request.tuning <= MOST_CASES:
        yield Problem("/tuning", f"must be from 0 to {MOST_CASES:,}")
    if not 1 <= request.raters <= MOST_RATERS:
        yield Problem("/raters", f"must be from 1 to {MOST_RATERS}")
    if len(request.seed) > 100 or "\0" in request.seed:
        yield Problem("/seed", "must be text of at most 100 characters")
    if grading.run.project_id != judge.project_id:
        yield Problem("/grading", "is not of this project")
    elif grading.finished_at is None:
        yield Problem("/grading", "is not finished")
    elif not any(
        (seat.rubric, seat.version, seat.model) == (judge.rubric.name, judge.rubric.version, judge.model)
        for seat in seats_of(grading)
    ):
        yield Problem("/grading", "was not judged by this rubric version and model")


def _strata(grading: Grading, rubric: str, seed: str) -> dict[str, list[UUID]]:
    """Return the cases that the judge was asked about and scored, by its verdict: of each example one trial."""
    rows = JudgedCase.objects.filter(grading=grading, rubric=rubric, status__in=("passed", "failed"), questions__gt=0)
    named = rows.order_by("pk").values_list("case__transcript__entry__revision", "status", "case")
    trials: dict[UUID, list[tuple[str, UUID]]] = {}
    for revision, status, case in named:
        trials.setdefault(revision, []).append((status, case))
    return one_trial_each(trials.values(), seed)


def _proposed(request: CalibrationRequest, drawn: Collection[UUID]) -> list[CalibratedCase]:
    """Return the cases that thumbs propose, of each example one, without examples that were drawn by chance."""
    revision = "case__transcript__entry__revision"
    had = set(CaseGrade.objects.filter(pk__in=drawn).values_list("transcript__entry__revision", flat=True))
    thumbs = Thumb.objects.proposed(request.judge).filter(case__grading=request.grading)
    judged = JudgedCase.objects.filter(
        grading=request.grading, rubric=request.judge.rubric.name, status__in=("passed", "failed"), questions__gt=0
    )
    rows = judged.filter(case__in=thumbs.order_by().values("case")).order_by("pk")
    found: dict[UUID, CalibratedCase] = {}
    for example, case, status in rows.values_list(revision, "case", "status"):
        if example not in had and len(found) < MOST_CASES:
            made = CalibratedCase(case_id=case, is_held_out=False, by_thumb=True, passed=status == "passed")
            found.setdefault(example, made)
    return list(found.values())


def _plans(calibration: JudgeCalibration, size: int) -> Iterator[BatchPlan]:
    for start in range(1, size + 1, SLICE):
        stop = min(start + SLICE, size + 1)
        payload: JsonObject = {"calibration": str(calibration.pk), "start": start, "stop": stop}
        yield BatchPlan("runs.calibrate", payload, size=stop - start, queue=Queue.GRADE)


def still_blind(project: Project) -> str:
    """Say what ratings of the project no owner may read yet; empty where all are closed: see `STILL_BLIND`."""
    calibrations = JudgeCalibration.objects.filter(judge__project=project, closed_at=None).count()
    rereadings = Rereading.objects.filter(grading__run__project=project, closed_at=None).count()
    if not (calibrations or rereadings):
        return ""
    return (
        f"Ratings are blind until they are closed: {calibrations} calibrations and {rereadings} re-readings are open."
    )
