"""Destroying in turns: a turn that is killed or whose time is over leaves a smaller rest, which the next destroys."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from labeling.services import dataset_create, import_start
from tests.runs.building import HISTORY, REFUND, call, stored, uploaded_run, version_of
from tests.runs.test_killed import KillAt, Killed
from tests.runs.trashing import swept
from toolevals.runs.models import Run
from toolevals.runs.trash import datasets
from toolevals.workspace.models import Project, Upload
from toolevals.workspace.services import project_create
from toolevals.workspace.services.trash import TrashError, trash_put, trash_restore, trash_sweep
from toolevals.workspace.trash import parts

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
        with pytest.raises(TrashError, match="being destroyed"):
            trash_restore(row=project, actor=None)
    swept()
    assert not Project.with_trash.filter(pk=project.pk).exists()
    assert not Run.with_trash.exists()
    assert not Upload.objects.exists()


def test_a_turn_ends_when_its_time_is_over_and_the_next_goes_on(project, version, run):
    trash_put(row=project, actor=None)
    later = timezone.now() + timedelta(days=31)
    assert trash_sweep(later, 0) == 0
    turns = 0
    while Project.with_trash.filter(pk=project.pk).exists():
        trash_sweep(later, 0.01)
        turns += 1
        assert turns < 500
