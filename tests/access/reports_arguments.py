"""Arguments of the addresses of reports: the graded run that the addresses of runs use."""

from __future__ import annotations

from uuid import UUID

from reports.services import bundle_start, bundle_work
from tests.access.runs_arguments import a_case, a_graded_run, a_number
from tests.access.world import Argument, World
from toolevals.workspace.jobs import batch_work
from toolevals.workspace.models import User


def an_experiment(world: World, person: User) -> str:
    return str(a_graded_run(world).experiment.slug)


def a_dataset(world: World, person: User) -> str:
    return str(a_graded_run(world).dataset_version.dataset.slug)


def a_version(world: World, person: User) -> int:
    return int(a_graded_run(world).dataset_version.number)


def a_bundle(world: World, person: User) -> UUID:
    """Return a job that has written its zip."""
    job = bundle_start(grading=a_graded_run(world).gradings.latest("number"), actor=None)
    for batch in job.batches.all():
        batch_work(str(batch.pk), bundle_work)
    bundle: UUID = job.pk
    return bundle


ARGUMENTS: dict[str, Argument] = {
    "number": a_number,
    "case_id": a_case,
    "experiment": an_experiment,
    "dataset": a_dataset,
    "version": a_version,
    "bundle": a_bundle,
}
