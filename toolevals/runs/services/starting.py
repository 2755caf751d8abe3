"""Starting a run: its row, its first grading and the job that does both, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.urls import reverse

from labeling.models import DatasetVersion
from toolevals.agents.connectors import CONNECTORS
from toolevals.grading.problems import InvalidDocument
from toolevals.runs.floors import FLOOR_NUMBERS, Floor
from toolevals.runs.live.settings import LiveSettings
from toolevals.runs.models import Connector, Experiment, Run, Simulator, Subject
from toolevals.runs.services.gradings import grading_make
from toolevals.runs.services.slices import converse_plans, grade_plans, ingest_plan, produce_plans
from toolevals.workspace.jobs import BatchPlan, job_create
from toolevals.workspace.models import Project, Upload, User
from toolevals.workspace.services import audit_record

MAX_TRIALS = 64


def run_start(
    *,
    project: Project,
    actor: User | None,
    experiment: Experiment,
    subject: Subject,
    dataset_version: DatasetVersion,
    trials: int = 1,
) -> Run:
    """Start a run of the built-in baseline; `run.job` shows how far it is. Raises InvalidDocument."""
    if subject.connector != Connector.BASELINE:
        raise InvalidDocument.at("/subject", "is not the baseline: upload its predictions instead")
    return _start(
        project=project,
        actor=actor,
        experiment=experiment,
        subject=subject,
        dataset_version=dataset_version,
        trials=trials,
        first_stage=lambda run: produce_plans(run, stage=0),
    )


def floor_start(
    *,
    project: Project,
    experiment: Experiment,
    subject: Subject,
    version: DatasetVersion,
    floor: Floor,
    frequent: Sequence[str],
) -> Run:
    """Start the run of a floor; `frequent` are the tools that the version expects, the most frequent first."""
    return _start(
        project=project,
        actor=None,
        experiment=experiment,
        subject=subject,
        dataset_version=version,
        trials=1,
        settings={"frequent": list(frequent)} if floor is Floor.FREQUENT else None,
        first_stage=lambda run: produce_plans(run, stage=0),
        floor=floor,
    )


def run_converse(
    *,
    project: Project,
    actor: User | None,
    experiment: Experiment,
    subject: Subject,
    dataset_version: DatasetVersion,
    settings: LiveSettings,
    trials: int = 1,
) -> Run:
    """Start a run that asks its subject while it lasts; `run.job` shows how far it is. Raises InvalidDocument."""
    if subject.connector not in CONNECTORS:
        raise InvalidDocument.at("/subject", "is not one that can be asked")
    return _start(
        project=project,
        actor=actor,
        experiment=experiment,
        subject=subject,
        dataset_version=dataset_version,
        trials=trials,
        settings=settings.to_document(),
        simulator=Simulator.objects.of_dataset(dataset_version.dataset),
        first_stage=lambda run: converse_plans(run, stage=0),
    )


def run_upload(
    *,
    project: Project,
    actor: User | None,
    experiment: Experiment,
    subject: Subject,
    dataset_version: DatasetVersion,
    upload: Upload,
    trials: int = 1,
) -> Run:
    """Start a run of uploaded predictions; `run.job` shows how far it is, and the file's errors by line.

    A prediction belongs to an example by its external id and to a trial from 0 to `trials` - 1. An unknown or repeated
    pair refuses the whole file; a pair without prediction is unscored. Raises InvalidDocument.
    """
    if subject.connector != Connector.UPLOAD:
        raise InvalidDocument.at("/subject", "is the baseline: start a run of it instead")
    if upload.project_id != project.pk:
        raise InvalidDocument.at("/upload", "is not a file of this project")
    return _start(
        project=project,
        actor=actor,
        experiment=experiment,
        subject=subject,
        dataset_version=dataset_version,
        trials=trials,
        first_stage=lambda run: [ingest_plan(run, upload.pk, stage=0)],
    )


@transaction.atomic
def _start(
    *,
    project: Project,
    actor: User | None,
    experiment: Experiment,
    subject: Subject,
    dataset_version: DatasetVersion,
    trials: int,
    first_stage: Callable[[Run], Iterable[BatchPlan]],
    settings: Mapping[str, Any] | None = None,
    simulator: Simulator | None = None,
    floor: str = "",
) -> Run:
    """Make the run, grading 1 and the job: transcripts in stage 0, grades in stage 1, counts in stage 2."""
    _check(project, experiment, subject, dataset_version, trials)
    # One at a time: the numbers have no gap and no double.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    run = Run.objects.create(
        project=project,
        number=_next_number(project, floor),
        experiment=experiment,
        subject=subject,
        dataset_version=dataset_version,
        trials=trials,
        settings=dict(settings or {}),
        simulator=simulator,
        floor=floor,
        actor=actor,
    )
    grading = grading_make(run=run, dataset_version=dataset_version, actor=actor)
    run.job = grading.job = job_create(
        project=project,
        actor=actor,
        kind="floor" if floor else "run",
        title=f"{_called(run)} on {dataset_version.dataset.name} v{dataset_version.number}",
        # Nobody waits for a floor.
        priority=-1 if floor else 0,
        batches=[*first_stage(run), *grade_plans(grading, stage=1)],
        result_path=reverse("reports:run", args=[project.slug, run.number]),
    )
    run.save(update_fields=["job"])
    grading.save(update_fields=["job"])
    detail = {"number": run.number, "subject": subject.name, "connector": subject.connector, "trials": trials}
    audit_record(project=project, actor=actor, verb="run_start", target=run, detail=detail)
    return run


def _next_number(project: Project, floor: str) -> int:
    """Return the number after the last; floors count apart, far above, so that people's runs have no gap."""
    alike = project.runs.exclude(floor="") if floor else project.runs.filter(floor="")
    return (alike.aggregate(last=Max("number"))["last"] or (FLOOR_NUMBERS if floor else 0)) + 1


def _called(run: Run) -> str:
    return f"Floor: {run.subject.name}" if run.floor else f"Run {run.number}: {run.subject.name}"


def _check(
    project: Project, experiment: Experiment, subject: Subject, dataset_version: DatasetVersion, trials: int
) -> None:
    if not 1 <= trials <= MAX_TRIALS:
        raise InvalidDocument.at("/trials", f"must be from 1 to {MAX_TRIALS}")
    owners = {
        "/experiment": experiment.project_id,
        "/subject": subject.project_id,
        "/dataset_version": dataset_version.dataset.project_id,
    }
    for pointer, owner in owners.items():
        if owner != project.pk:
            raise InvalidDocument.at(pointer, "is not of this project")
