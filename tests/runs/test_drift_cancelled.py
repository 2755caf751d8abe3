"""A check for drift that is cancelled while the judge answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from tests.runs.calibrated import SIZE
from tests.runs.drifting import (
    NOW_PASSES,
    Scripted,
    closed,
    standing_of,
)
from toolevals.runs.drift.results import counts_of
from toolevals.runs.drift.services import drift_begin
from toolevals.runs.judging import concurrent_questions as several_module
from toolevals.runs.judging.judge_reliability import Trust
from toolevals.runs.models import JudgeCalibration
from toolevals.workspace.jobs.services import job_cancel, job_retry
from toolevals.workspace.models import JobState

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]


@pytest.fixture
def judge() -> Scripted:
    return Scripted()


@pytest.fixture
def calibration(project: Any, judge: Scripted) -> Iterator[JudgeCalibration]:
    yield from closed(project, judge)


# The server's own thread cancels the job: what it does must be committed, and seen.
@pytest.mark.django_db(transaction=True)
def test_a_cancelled_check_counts_for_nothing_and_goes_on_where_it_was(calibration, judge, run_jobs, monkeypatch):
    judge.asked.clear()
    monkeypatch.setattr(several_module, "CONCURRENCY", 1)
    judge.passes = NOW_PASSES
    made: Any = drift_begin(judge=calibration.judge, calibration=calibration, actor=None)
    answer = Scripted.__call__

    def cancelling(self: Scripted, inputs: Any) -> Any:
        if len(self.asked) == 4:
            job_cancel(job=made.job, actor=None)
            connection.close()
        return answer(self, inputs)

    monkeypatch.setattr(Scripted, "__call__", cancelling)
    run_jobs()
    made.refresh_from_db()
    assert (made.job.state, made.finished_at, made.answers.count()) == (JobState.CANCELLED, None, 5)
    assert standing_of(calibration).trust is Trust.REACHED
    job_retry(job=made.job, actor=None)
    monkeypatch.setattr(Scripted, "__call__", answer)
    run_jobs()
    made.refresh_from_db()
    assert len(judge.asked) == SIZE
    assert (counts := counts_of(made)) is not None
    assert counts.changes.changed == 5
    assert standing_of(calibration).trust is Trust.DRIFTED
