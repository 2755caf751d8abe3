"""A worker may die between any two statements: what is written in the end is what an undisturbed run writes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from tests.runs.building import EXAMPLES, HISTORY, STATUS, baseline_run, call, rows_of, uploaded_run, version_of
from toolevals.runs.models import Run, Transcript
from toolevals.runs.runs import ingesting
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Batch, BatchState, JobState

pytestmark = pytest.mark.django_db

PREDICTIONS = [call("status", HISTORY), call("history", STATUS, trial=1, order_id="ORD-2")]


class Killed(BaseException):
    """The process is gone: nothing may catch it."""


class KillAt:
    """Ends the process before the nth statement that it sends to the database, of those that begin after a change.

    Statements that only read leave the database as it is: whoever dies between two of them leaves what whoever dies
    before both does.
    """

    def __init__(self, number: int) -> None:
        self.left = number
        self.is_changed = True

    def __call__(self, execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        self.left -= self.is_changed
        if self.left == 0:
            raise Killed
        self.is_changed = not sql.startswith("SELECT")
        return execute(sql, *rest)


def worked_with_a_kill(run_jobs: Callable[..., int], number: int) -> bool:
    """Work until killed at statement `number`; let the leases expire and work on. Return whether it was killed."""
    killed = False
    try:
        with connection.execute_wrapper(KillAt(number)):
            run_jobs()
    except Killed:
        killed = True
    Batch.objects.filter(state=BatchState.LEASED).update(due_at=database_now() - timedelta(seconds=1))
    run_jobs(impatient=True)
    return killed


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_kill_between_any_two_statements_leaves_no_run_of_a_refused_file(project, run_jobs, monkeypatch):
    monkeypatch.setattr(ingesting, "CHUNK", 2)
    version = version_of(project, EXAMPLES[:2])
    number, killed = 0, True
    while killed:
        number += 1
        run = uploaded_run(project, version, [*PREDICTIONS, {"id": 5}], trials=2)
        killed = worked_with_a_kill(run_jobs, number)
        run.job.refresh_from_db()
        assert run.job.state == JobState.FAILED, f"killed at statement {number}"
        assert [error["line"] for error in run.job.report["errors"]] == [3], f"killed at statement {number}"
        assert not Run.with_trash.exists(), f"killed at statement {number}"
        assert not Transcript.objects.exists(), f"killed at statement {number}"
    assert number > 10


# Who is killed closes no cursor: PostgreSQL's driver minds.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("kind", ["baseline", "upload"])
def test_a_kill_between_any_two_statements_changes_nothing(project, run_jobs, monkeypatch, kind):
    monkeypatch.setattr(ingesting, "CHUNK", 2)
    version = version_of(project, EXAMPLES[:2])

    def start() -> Any:
        if kind == "baseline":
            return baseline_run(project, version, trials=2)
        return uploaded_run(project, version, PREDICTIONS, trials=2)

    undisturbed = start()
    run_jobs()
    expected = rows_of(undisturbed.gradings.get())
    assert len(expected["cases"]) == 4

    number, killed = 0, True
    while killed:
        number += 1
        run = start()
        killed = worked_with_a_kill(run_jobs, number)
        run.refresh_from_db()
        assert run.job.state == JobState.SUCCEEDED, f"killed at statement {number}"
        assert rows_of(run.grading) == expected, f"killed at statement {number}"
    assert number > 40
