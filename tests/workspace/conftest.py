"""Fixtures of the workspace's tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Job, Project, Queue

from . import tasks

JobMaker = Callable[..., Job]


@pytest.fixture
def job_of(project: Project) -> JobMaker:
    """Return a function that makes a job of the test task from payloads: each argument is one stage's list."""

    def make(
        *stages: list[dict[str, Any]], size: int = 1, queue: Queue = Queue.IO, owner: Project = project, **fields: Any
    ) -> Job:
        plans = [
            BatchPlan(tasks.work_task.name, payload, size=size, stage=stage, queue=queue)
            for stage, payloads in enumerate(stages)
            for payload in payloads
        ]
        return job_create(project=owner, actor=None, kind="test", title="A test", batches=plans, **fields)

    return make
