"""Destroying in turns: a turn that is killed or whose time is over leaves a smaller rest, which the next destroys."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from labeling.datasets.services import dataset_create
from labeling.imports.services import import_start
from labeling.models import Dataset
from tests.runs.building import HISTORY, REFUND, call, stored, uploaded_run, version_of
from tests.runs.test_killed import KillAt, Killed
from tests.runs.trashing import destroyed, destroying, jobs_destroy, swept
from toolevals.runs import trash as datasets
from toolevals.runs.models import Run
from toolevals.runs.trash import Datasets
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs import leases
from toolevals.workspace.models import Batch, BatchState, Job, Project, Upload
from toolevals.workspace.projects.services import project_create
from toolevals.workspace.trash import kinds as parts
from toolevals.workspace.trash import services as trash
from toolevals.workspace.trash.services import TrashError, trash_destroy, trash_put, trash_restore, trash_sweep

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(project, version, run_jobs):
    """A graded run."""
    made = uploaded_run(project, version, [call("status", HISTORY), call("refund", REFUND)])
    run_jobs()
    made.refresh_from_db()
    return made


def world_of(project: Project, run_jobs: Callable[..., int]) -> None:
    """Make a project with a run, baseline agents, a dataset in work and a refused import."""
    version = version_of(project)
    uploaded_run(project, version, [call("status", HISTORY)])
    dataset = dataset_create(project=project, actor=None, slug="failed", name="Failed")
    import_start(dataset=dataset, actor=None, upload=stored(project, b"not JSON\n"))
    run_jobs()


# Who is killed closes no cursor: PostgreSQL's driver minds.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("number", [3, 20, 40, 75, 120])
def test_a_kill_in_the_middle_leaves_a_smaller_rest_that_is_destroyed_next(
    transactional_db, run_jobs, monkeypatch, number
):
    for module in (parts, datasets):
        monkeypatch.setattr(module, "others_write_first", lambda: None)
    project = project_create(actor=None, slug="shop", name="Shop support")
    world_of(project, run_jobs)
    trash_put(row=project, actor=None)
    with pytest.raises(Killed), connection.execute_wrapper(KillAt(number)):
        swept()
    assert Project.with_trash.filter(pk=project.pk).exists()
    if Project.with_trash.get(pk=project.pk).tombstone is not None:
        with pytest.raises(TrashError, match="being deleted permanently"):
            trash_restore(row=project, actor=None)
    swept()
    assert not Project.with_trash.filter(pk=project.pk).exists()
    assert not Run.with_trash.exists()
    assert not Upload.objects.exists()


def test_between_two_turns_it_tells_how_far_it_is_and_gives_way(project, version, run, monkeypatch):
    monkeypatch.setattr(trash, "TURN_SECONDS", 0.0)
    monkeypatch.setattr(leases, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(leases, "quick_work_waits", lambda: True)
    trash_put(row=project, actor=None)
    assert trash_sweep(database_now() + timedelta(days=31)) == 1
    [batch], turns, seen = destroying(), 0, [0]
    while Project.with_trash.filter(pk=project.pk).exists():
        assert jobs_destroy() <= 1
        turns += 1
        assert turns < 500
        for left in Batch.objects.filter(pk=batch.pk):
            # To give way is no attempt that failed.
            assert (left.state, left.attempts) == (BatchState.QUEUED, 0)
            seen.append(left.done)
    assert turns > 10
    assert seen == sorted(seen)
    assert seen[-1] > 0


def test_what_cannot_be_destroyed_says_why_and_is_tried_again_after_an_hour(project, version, monkeypatch, owner):
    other = dataset_create(project=project, actor=None, slug="other", name="Other")
    for dataset in (version.dataset, other):
        trash_put(row=dataset, actor=owner)

    def rests_on_itself(kind: Datasets, row: Any, until: float) -> bool:
        if row.pk == other.pk:
            return children_delete_first(kind, row, until)
        raise parts.RestsOnItself("what is left rests on itself")

    children_delete_first = Datasets.destroy
    monkeypatch.setattr(Datasets, "destroy", rests_on_itself)
    later = database_now() + timedelta(days=31)
    assert trash_sweep(later) == 2
    for _ in range(4):
        jobs_destroy()
    failed = Job.objects.destroying().get(trashed_with=version.dataset_id)
    assert (failed.state, failed.failures()[0].error) == ("failed", "RestsOnItself: what is left rests on itself")
    # The others are not kept waiting for it.
    assert not Dataset.with_trash.filter(pk=other.pk).exists()
    assert trash_sweep(database_now() + timedelta(minutes=59)) == 0
    monkeypatch.undo()
    assert trash_sweep(later) == 1
    assert jobs_destroy() == 1
    assert not Dataset.with_trash.filter(pk=version.dataset_id).exists()


def test_who_restores_before_it_begins_takes_the_job_away(project, version, owner):
    trash_put(row=version.dataset, actor=owner)
    trash_destroy(row=version.dataset, actor=owner, typed="core")
    assert Job.objects.destroying().count() == 1
    trash_restore(row=version.dataset, actor=owner)
    assert not Job.objects.destroying().exists()
    assert trash_sweep(database_now()) == 0


@pytest.mark.django_db(transaction=True)
def test_the_write_ahead_log_is_empty_behind_it(transactional_db):
    project = project_create(actor=None, slug="shop", name="Shop support")
    destroyed(project)
    assert Path(f"{connection.settings_dict['NAME']}-wal").stat().st_size == 0
