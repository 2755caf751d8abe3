"""Arguments of the addresses of runs: one graded run, made once, serves all of them."""

from __future__ import annotations

from uuid import UUID

from celery import current_app

from labeling.models import LookPlan
from tests.access.world import Argument, World
from tests.runs.building import baseline_run, version_of
from toolevals.grading.judging import SHIPPED
from toolevals.grading.judging.probing import ProbeSet
from toolevals.runs.judging.services import JudgeRequest, judge_add, rubric_use
from toolevals.runs.models import (
    CalibratedCase,
    CaseGrade,
    DriftCheck,
    Judge,
    JudgeCalibration,
    ProbeCheck,
    RereadCase,
    Rereading,
    Run,
    Tryout,
)
from toolevals.runs.simulators.services import simulator_ensure
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Batch, User


def a_graded_run(world: World) -> Run:
    """Return the project's first graded run; the first call makes it."""
    run = Run.objects.filter(project=world.project, grading__isnull=False).order_by("number").first()
    if run is None:
        run = baseline_run(world.project, version_of(world.project))
        current_app.loader.import_default_modules()
        while batch := Batch.objects.due(database_now()).filter(job=run.job).first():
            current_app.tasks[batch.task](str(batch.pk))
    return run


def a_number(world: World, person: User) -> int:
    return int(a_graded_run(world).number)


def a_grading(world: World, person: User) -> int:
    return int(a_graded_run(world).gradings.get().number)


def a_case(world: World, person: User) -> UUID:
    case = CaseGrade.objects.filter(grading__run=a_graded_run(world)).first()
    assert case is not None
    return case.pk  # type: ignore[no-any-return]


def a_judge(world: World, person: User) -> UUID:
    """Return the project's judge; the first call makes it."""
    judge = Judge.objects.filter(project=world.project).first()
    if judge is None:
        rubric = rubric_use(project=world.project, actor=None, name="task_completion")
        request = JudgeRequest("Walk", "judge-2026-01-31", {"base_url": "https://judges.example/v1"})
        judge = judge_add(project=world.project, actor=None, rubric=rubric, request=request)
    return judge.pk  # type: ignore[no-any-return]


def a_calibration(world: World, person: User) -> UUID:
    """Return an open calibration of the project's judge, with one case; the first call makes it."""
    judge, case = a_judge(world, person), a_case(world, person)
    made, new = JudgeCalibration.objects.get_or_create(
        judge_id=judge,
        defaults={
            "grading": a_graded_run(world).gradings.get(),
            "raters": 1,
            "seed": "walk",
            "drawn_from": {"passed": 1, "failed": 0},
        },
    )
    if new:
        questions = [{"conversation": {"messages": []}, "tools": [], "done": []}]
        CalibratedCase.objects.create(
            calibration=made, position=1, case_id=case, is_held_out=True, passed=True, value=1, questions=questions
        )
    return made.pk  # type: ignore[no-any-return]


def a_rereading(world: World, person: User) -> UUID:
    """Return an open re-reading of the project's graded run, with one case; the first call makes it."""
    case, grading = a_case(world, person), a_graded_run(world).gradings.get()
    found = Rereading.objects.filter(grading=grading).first()
    if found is None:
        drawn = {"passed": 1, "failed": 0}
        found = Rereading.objects.create(grading=grading, readers=1, seed="walk", drawn_from=drawn)
        RereadCase.objects.create(rereading=found, position=1, case_id=case, passed=True, trials=1)
    return found.pk  # type: ignore[no-any-return]


def a_drift(world: World, person: User) -> UUID:
    """Return a check of the project's judge for drift, under way; the first call makes it."""
    judge, calibration = a_judge(world, person), a_calibration(world, person)
    return DriftCheck.objects.get_or_create(judge_id=judge, calibration_id=calibration)[0].pk  # type: ignore[no-any-return]


def a_probing(world: World, person: User) -> UUID:
    """Return a check of the project's judge with probes, under way; the first call makes it."""
    judge = a_judge(world, person)
    found = ProbeCheck.objects.filter(judge=judge).first()
    found = found or ProbeCheck.objects.create(judge_id=judge, probes=ProbeSet.shipped().to_document())
    return found.pk  # type: ignore[no-any-return]


def a_probe(world: World, person: User) -> str:
    return ProbeSet.shipped().probes[0].id


def a_tryout(world: World, person: User) -> UUID:
    """Return a try of a rubric, under way; the first call makes it."""
    document = {**SHIPPED["task_completion"].to_document(), "name": "walk"}
    made, _ = Tryout.objects.get_or_create(
        project=world.project,
        judge_id=a_judge(world, person),
        grading=a_graded_run(world).gradings.get(),
        defaults={"document": document, "seed": "walk"},
    )
    return made.pk  # type: ignore[no-any-return]


def a_simulator(world: World, person: User) -> UUID:
    results = [{"tool": "get_order_status", "result": "sent"}]
    made = simulator_ensure(
        project=world.project, actor=None, name="Shop", kind="scripted", content={"results": results}
    )
    return made.pk  # type: ignore[no-any-return]


def a_look_plan(world: World, person: User) -> UUID:
    """Return the second looks that are at work in the dataset of the graded run."""
    dataset = a_graded_run(world).dataset_version.dataset
    plan, _ = LookPlan.objects.get_or_create(dataset=dataset, ended_at=None, defaults={"run": 1, "agent": "Walker"})
    return plan.pk  # type: ignore[no-any-return]


def a_dataset(world: World, person: User) -> str:
    return str(a_graded_run(world).dataset_version.dataset.slug)


ARGUMENTS: dict[str, Argument] = {
    "number": a_number,
    "grading": a_grading,
    "case": a_case,
    "judge": a_judge,
    "calibration": a_calibration,
    "rereading": a_rereading,
    "drift": a_drift,
    "probing": a_probing,
    "probe": a_probe,
    "tryout": a_tryout,
    "simulator": a_simulator,
    "dataset": a_dataset,
}
