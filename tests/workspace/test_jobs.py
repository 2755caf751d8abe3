"""Jobs from their making to their end."""

from __future__ import annotations

from datetime import timedelta

import pytest

from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import JobCancelled
from toolevals.workspace.jobs.services import (
    BatchPlan,
    JobStateError,
    job_add_batches,
    job_cancel,
    job_create,
    job_retry,
)
from toolevals.workspace.models import AuditEntry, Batch, BatchState, Job, JobState

from .tasks import claimed, effects


def states(job: Job) -> list[str]:
    return list(job.batches.order_by("stage", "number").values_list("state", flat=True))


def test_a_job_ends_when_its_batches_are_done(job_of, run_jobs):
    job = job_of([{}, {}, {}], size=10)
    assert job.progress == (0, 30)
    assert run_jobs() == 3
    job.refresh_from_db()
    assert (job.state, job.progress, job.report) == (JobState.SUCCEEDED, (30, 30), {"worked": 3})
    assert job.finished_at is not None
    assert len(effects()) == 3


def test_a_job_without_batches_is_done_at_once(project):
    job = job_create(project=project, actor=None, kind="test", title="Nothing", batches=[])
    assert job.state == JobState.SUCCEEDED
    assert job.finished_at is not None


def test_progress_needs_no_query_of_its_own(job_of, run_jobs, django_assert_num_queries):
    for _ in range(3):
        job_of([{}, {}], size=5)
    run_jobs()
    with django_assert_num_queries(1):
        assert [job.progress for job in Job.objects.with_progress()] == [(10, 10)] * 3


def test_a_stage_begins_when_the_one_before_is_done(job_of, run_jobs):
    job = job_of([{}, {}], [{}, {}], [{}])
    run_jobs()
    order = {pk: place for place, pk in enumerate(effects())}
    by_stage = [{order[batch.pk] for batch in job.batches.filter(stage=stage)} for stage in range(3)]
    assert by_stage == [{0, 1}, {2, 3}, {4}]


def test_stages_need_not_begin_at_nought_nor_be_without_gaps(project, run_jobs):
    plans = [BatchPlan("tests.work", {}, stage=stage) for stage in (2, 5)]
    job = job_create(project=project, actor=None, kind="test", title="Gaps", batches=plans)
    assert run_jobs() == 2
    job.refresh_from_db()
    assert (job.state, job.stage) == (JobState.SUCCEEDED, 5)


def test_more_urgent_jobs_come_first_then_older_ones(job_of, run_jobs):
    jobs = [job_of([{}], priority=priority) for priority in (0, 0, 5, -1)]
    run_jobs()
    first, second, urgent, idle = (job.batches.get().pk for job in jobs)
    assert effects() == [urgent, first, second, idle]


def test_a_batch_can_add_batches_to_a_later_stage_and_to_its_own(job_of, run_jobs, project):
    job = job_of([{"adds": 1}, {"adds": 1}], [{}])
    run_jobs()
    assert states(job) == [BatchState.DONE] * 5
    assert list(job.batches.filter(stage=1).order_by("number").values_list("number", flat=True)) == [1, 2, 3]


def test_nothing_can_be_added_to_a_stage_that_is_over(job_of):
    job = job_of([{}], [{}])
    Job.objects.filter(pk=job.pk).update(stage=1)
    with pytest.raises(ValueError, match="over"):
        job_add_batches(job, [BatchPlan("tests.work", {}, stage=0)])


def test_a_failing_batch_comes_again_after_ever_longer_waits(job_of, run_jobs, settings):
    job = job_of([{"raise": "no luck"}])
    waits = []
    for _ in range(settings.BATCH_MAX_ATTEMPTS):
        assert run_jobs() == 1
        batch = job.batches.get()
        waits.append(round((batch.due_at - database_now()).total_seconds()))
        job.batches.update(due_at=database_now())
    assert waits[:3] == [2, 4, 8]
    batch.refresh_from_db()
    job.refresh_from_db()
    assert (batch.state, batch.error) == (BatchState.FAILED, "RuntimeError: no luck")
    assert job.state == JobState.FAILED
    assert run_jobs() == 0


def test_others_finish_before_a_job_has_failed(job_of, run_jobs):
    job = job_of([{"raise": "no"}, {}, {}], [{}])
    run_jobs()
    job.refresh_from_db()
    assert job.state == JobState.RUNNING
    run_jobs(impatient=True)
    job.refresh_from_db()
    assert job.state == JobState.FAILED
    assert states(job) == ["failed", "done", "done", "queued"]
    assert len(effects()) == 2


def test_a_refused_batch_is_not_tried_again_and_says_where_the_input_is_wrong(job_of, run_jobs):
    job = job_of([{"refuse": "is missing"}])
    assert run_jobs(impatient=True) == 1
    job.refresh_from_db()
    assert job.state == JobState.FAILED
    assert job.errors == [{"line": 3, "pointer": "/id", "message": "is missing"}]
    assert job.failures().get().error == "The file is wrong."


def test_retry_queues_what_failed_and_goes_on_to_the_later_stages(job_of, run_jobs, owner):
    job = job_of([{"refuse": "no"}, {}], [{}])
    run_jobs()
    Batch.objects.filter(job=job, state=BatchState.FAILED).update(payload={})
    again = job_retry(job=job, actor=owner)
    assert (again.state, again.finished_at, again.errors) == (JobState.RUNNING, None, [])
    assert run_jobs() == 2
    job.refresh_from_db()
    assert job.state == JobState.SUCCEEDED
    assert len(effects()) == len(set(effects())) == 3
    assert AuditEntry.objects.get(verb="job_retry").actor == owner


def test_cancel_stops_queued_batches_at_once(job_of, run_jobs, owner):
    job = job_of([{}, {}], [{}])
    cancelled = job_cancel(job=job, actor=owner)
    assert cancelled.state == JobState.CANCELLED
    assert states(job) == ["cancelled"] * 3
    assert run_jobs() == 0
    assert AuditEntry.objects.get(verb="job_cancel").actor == owner


def test_cancel_stops_a_leased_batch_at_its_next_transaction(job_of):
    job = job_of([{}])
    lease = claimed(job.batches.get().pk)
    job_cancel(job=job, actor=None)
    with pytest.raises(JobCancelled), lease.transaction():
        raise AssertionError("nothing may be written")
    assert job.batches.get().state == BatchState.LEASED


def test_a_cancelled_job_can_be_taken_up_again(job_of, run_jobs):
    job = job_of([{}, {}], [{}])
    job_cancel(job=job, actor=None)
    job_retry(job=job, actor=None)
    assert run_jobs() == 3
    job.refresh_from_db()
    assert job.state == JobState.SUCCEEDED


def test_a_job_cancelled_in_the_moment_its_last_batch_ended_can_be_taken_up_again(job_of):
    job = job_of([{}])
    lease = claimed(job.batches.get().pk)
    with lease.finish():
        Job.objects.filter(pk=job.pk).update(state=JobState.CANCELLED)
    assert states(job) == ["done"]
    assert job_retry(job=job, actor=None).state == JobState.SUCCEEDED


@pytest.mark.parametrize("state", [JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED])
def test_only_a_running_job_can_be_cancelled(job_of, state):
    job = job_of([{}])
    Job.objects.filter(pk=job.pk).update(state=state)
    with pytest.raises(JobStateError):
        job_cancel(job=job, actor=None)


@pytest.mark.parametrize("state", [JobState.RUNNING, JobState.SUCCEEDED])
def test_only_a_failed_or_cancelled_job_can_be_retried(job_of, state):
    job = job_of([{}])
    Job.objects.filter(pk=job.pk).update(state=state)
    with pytest.raises(JobStateError):
        job_retry(job=job, actor=None)


def test_batches_of_a_later_stage_or_a_later_time_are_not_due(job_of):
    job = job_of([{}, {}], [{}])
    later = job.batches.filter(stage=0).last()
    Batch.objects.filter(pk=later.pk).update(due_at=database_now() + timedelta(seconds=5))
    assert list(Batch.objects.due(database_now())) == [job.batches.filter(stage=0).first()]
