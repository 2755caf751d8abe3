"""The steps of a test in an installation of its own, which run in its Python."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from typing import Any

ITEMS = 4
ANNOUNCED = 20
PATIENCE_SECONDS = 60


def start(batches: int) -> None:
    """Make a project and a job of two stages."""
    project(0)
    begin(batches)


def project(_: int) -> None:
    """Make a project."""
    from toolevals.workspace.projects.services import project_create

    project_create(actor=None, slug="queue", name="Queue")


def begin(batches: int) -> None:
    """Make a job of two stages."""
    from toolevals.workspace.jobs.services import BatchPlan, job_create
    from toolevals.workspace.models import Project

    project = Project.objects.get()
    slow = {"slow_items": ITEMS, "seconds": 0.05}
    plans = [BatchPlan("tests.work", slow, size=ITEMS, stage=number % 2) for number in range(batches)]
    job_create(project=project, actor=None, kind="test", title="A test", batches=plans)


def strange(batches: int) -> None:
    """Make a job of a task that the workers do not know, and announce it as a worker of a newer version does."""
    from celery import current_app

    from toolevals.workspace.jobs.services import BatchPlan, job_create
    from toolevals.workspace.models import Project

    project = Project.objects.get()
    plans = [BatchPlan("newer.work", {}) for _ in range(batches)]
    job = job_create(project=project, actor=None, kind="test", title="Newer", batches=plans)
    for pk in job.batches.values_list("pk", flat=True)[:ANNOUNCED]:
        current_app.send_task("newer.work", args=[str(pk)], queue="io")


def poison(_: int) -> None:
    """Make a job that stands still, older than any other."""
    from toolevals.workspace.jobs.services import BatchPlan, job_create
    from toolevals.workspace.models import Project

    plans = [BatchPlan("tests.work", {"stands_still": True})]
    job_create(project=Project.objects.get(), actor=None, kind="test", title="Poison", batches=plans)


def blamed(_: int) -> None:
    """Wait until the batch that stands still is blamed, and print its error."""
    from toolevals.workspace.models import Batch

    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        [error] = Batch.objects.filter(job__title="Poison").values_list("error", flat=True)
        if error:
            sys.stdout.write(json.dumps(error))
            return
        time.sleep(0.05)
    raise SystemExit("the batch is not blamed")


def wait(batches: int) -> None:
    """Wait until so many batches are done or the job has ended, and print how far it is."""
    from toolevals.workspace.models import Batch, BatchState, Job

    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        job = Job.objects.get(title="A test")
        if Batch.objects.filter(state=BatchState.DONE).count() >= batches or not job.is_running:
            sys.stdout.write(json.dumps(outcome()))
            return
        time.sleep(0.05)
    raise SystemExit("the workers took too long")


def outcome() -> dict[str, Any]:
    """Return how the job ended and how often each batch took effect."""
    from tests.workspace.tasks import effects
    from toolevals.workspace.models import Job

    job = Job.objects.get(title="A test")
    return {
        "state": job.state,
        "progress": job.progress,
        "report": job.report,
        "attempts": sum(job.batches.values_list("attempts", flat=True)),
        "effects": sorted(Counter(map(str, effects())).values()),
    }
