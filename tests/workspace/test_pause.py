"""Pausing a job and going on with it; how fast it goes."""

from __future__ import annotations

from datetime import timedelta

import pytest

from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.models import Pace
from toolevals.workspace.jobs.services import JobStateError, job_cancel, job_pause, job_resume, job_retry
from toolevals.workspace.models import AuditEntry, BatchState, Job, JobState

from .tasks import claimed, effects


def test_nothing_of_a_paused_job_is_begun_until_it_is_resumed(job_of, run_jobs, owner):
    job = job_of([{}, {}], [{}])
    assert job_pause(job=job, actor=owner).state == JobState.PAUSED
    assert run_jobs() == 0
    assert job_resume(job=job, actor=owner).state == JobState.RUNNING
    assert run_jobs() == 3
    job.refresh_from_db()
    assert job.state == JobState.SUCCEEDED
    verbs = AuditEntry.objects.filter(actor=owner, verb__startswith="job_").order_by("pk")
    assert list(verbs.values_list("verb", flat=True)) == ["job_pause", "job_resume"]


def test_what_is_at_work_when_its_job_is_paused_comes_to_its_end(job_of, run_jobs):
    job = job_of([{}, {}], [{}])
    first, second = job.batches.filter(stage=0).order_by("number")
    lease, other = claimed(first.pk), claimed(second.pk)
    job_pause(job=job, actor=None)
    for each in (lease, other):
        with each.finish():
            pass
    job.refresh_from_db()
    assert (job.state, job.stage) == (JobState.PAUSED, 1)
    assert run_jobs() == 0
    job_resume(job=job, actor=None)
    assert run_jobs() == 1


def test_a_paused_job_whose_last_batch_ends_is_over(job_of):
    job = job_of([{}])
    lease = claimed(job.batches.get().pk)
    job_pause(job=job, actor=None)
    with lease.finish():
        pass
    job.refresh_from_db()
    assert job.state == JobState.SUCCEEDED


def test_a_paused_job_can_be_cancelled_and_then_taken_up_again(job_of, run_jobs):
    job = job_of([{}, {}])
    job_pause(job=job, actor=None)
    job_cancel(job=job, actor=None)
    assert set(job.batches.values_list("state", flat=True)) == {BatchState.CANCELLED}
    job_retry(job=job, actor=None)
    assert run_jobs() == 2
    assert len(effects()) == 2


@pytest.mark.parametrize("state", [state for state in JobState.values if state != JobState.RUNNING])
def test_only_a_running_job_can_be_paused(job_of, state):
    job = job_of([{}])
    Job.objects.filter(pk=job.pk).update(state=state)
    with pytest.raises(JobStateError):
        job_pause(job=job, actor=None)


@pytest.mark.parametrize("state", [state for state in JobState.values if state != JobState.PAUSED])
def test_only_a_paused_job_can_be_resumed(job_of, state):
    job = job_of([{}])
    Job.objects.filter(pk=job.pk).update(state=state)
    with pytest.raises(JobStateError):
        job_resume(job=job, actor=None)


def test_the_pace_is_that_of_the_stage_since_it_was_taken_up(job_of):
    job = job_of([{}] * 4, [{}] * 100, size=5)
    for batch in job.batches.filter(stage=0).order_by("number")[:2]:
        with claimed(batch.pk).finish():
            pass
    job_pause(job=job, actor=None)
    job_resume(job=job, actor=None)
    claimed(job.batches.filter(stage=0, state=BatchState.QUEUED).first().pk).progress(5)
    Job.objects.update(pace_since=database_now() - timedelta(seconds=10))
    for shown in (Job.objects.get(), Job.objects.with_progress().get()):
        assert shown.stage_progress == (15, 20)
        assert shown.pace is not None
        assert shown.pace.rate == pytest.approx(0.5, rel=0.2)
        assert shown.pace.left.total_seconds() == pytest.approx(10, rel=0.2)
    job_pause(job=job, actor=None)
    assert Job.objects.get().pace is None


@pytest.mark.parametrize(
    ("done", "left", "seconds", "words"),
    [
        (600, 60, 10, ("60 a second", "1 s")),
        (25, 250, 10, ("2.5 a second", "2 min")),
        (10, 100, 60, ("10.0 a minute", "10 min")),
        (1, 600, 60, ("1.0 a minute", "10.0 h")),
        (50_000, 1, 10, ("5,000 a second", "0 s")),
    ],
)
def test_the_pace_in_words(done, left, seconds, words):
    pace = Pace.of(done=done, left=left, seconds=seconds)
    assert pace is not None
    assert (pace.rate_words, pace.left_words) == words


def test_nothing_is_said_of_a_pace_before_there_is_one():
    assert Pace.of(done=0, left=10, seconds=100) is None
    assert Pace.of(done=5, left=10, seconds=1) is None
