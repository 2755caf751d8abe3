"""The right to work on a batch."""

from __future__ import annotations

import threading
from datetime import timedelta
from functools import partial

import pytest
from django.db import connection

from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import JobCancelled, Lease, LeaseLost, batch_work, lease_claim
from toolevals.workspace.jobs.services import job_cancel, job_retry
from toolevals.workspace.models import Batch, BatchState, Job, JobState

from .tasks import claimed, effects, leave_effect, lost


def expire(batch: Batch) -> None:
    Batch.objects.filter(pk=batch.pk).update(due_at=database_now() - timedelta(seconds=1))


@pytest.fixture
def batch(job_of) -> Batch:
    found: Batch = job_of([{}], size=10).batches.get()
    return found


def test_a_batch_is_claimed_once(batch):
    assert claimed(batch.pk)
    assert lease_claim(str(batch.pk)) is None
    batch.refresh_from_db()
    assert (batch.state, batch.attempts) == (BatchState.LEASED, 1)


def test_an_overdue_lease_can_be_taken_and_the_first_worker_writes_nothing_more(batch):
    first = claimed(batch.pk)
    lost(batch.pk)
    second = claimed(batch.pk)
    assert second.token != first.token
    for attempt in (first.transaction, first.finish):
        with pytest.raises(LeaseLost), attempt():
            raise AssertionError("nothing may be written")
    for call in (first.extend, partial(first.progress, 3)):
        with pytest.raises(LeaseLost):
            call()
    with second.finish():
        leave_effect(second)
    assert effects() == [batch.pk]


def test_what_is_written_under_a_lease_that_breaks_is_rolled_back(batch):
    lease = claimed(batch.pk)

    def break_down() -> None:
        with lease.finish():
            leave_effect(lease)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        break_down()
    assert effects() == []
    batch.refresh_from_db()
    assert batch.state == BatchState.LEASED


def test_a_finished_lease_is_over(batch):
    lease = claimed(batch.pk)
    with lease.finish():
        pass
    with pytest.raises(LeaseLost):
        lease.extend()
    assert lease_claim(str(batch.pk)) is None


def test_every_transaction_and_every_progress_extends_the_lease(batch):
    lease = claimed(batch.pk)

    def write() -> None:
        with lease.transaction():
            pass

    for sign_of_life in (partial(lease.progress, 4), write):
        soon = database_now() + timedelta(seconds=1)
        Batch.objects.filter(pk=batch.pk).update(due_at=soon)
        sign_of_life()
        batch.refresh_from_db()
        assert batch.due_at > soon + timedelta(seconds=10)
    assert batch.done == 4


def test_progress_never_exceeds_the_size_and_begins_anew_with_each_attempt(batch):
    lease = claimed(batch.pk)
    lease.progress(99)
    batch.refresh_from_db()
    assert batch.done == 10
    lost(batch.pk)
    claimed(batch.pk)
    batch.refresh_from_db()
    assert batch.done == 0


def test_reports_of_several_batches_are_one(job_of):
    job = job_of([{}, {}])
    for batch in job.batches.order_by("number"):
        lease = claimed(batch.pk)
        lease.report({"rows": 2, "share": 0.5, "errors": [{"line": batch.number}], "file": "a.jsonl", "whole": True})
    job.refresh_from_db()
    assert job.report == {
        "rows": 4,
        "share": 1.0,
        "errors": [{"line": 1}, {"line": 2}],
        "file": "a.jsonl",
        "whole": True,
    }


def blame(attempt: int) -> str:
    return f"Attempt {attempt} of 4: the worker that held it ended, or gave no sign of life."


def test_attempts_that_get_further_count_for_nothing(batch, settings):
    """Workers die faster than the batch is done: it goes on for as long as each attempt gets further."""
    settings.BATCH_MAX_ATTEMPTS = 2
    said = []
    for done in (2, 4, 6, 8, 8, 7):
        assert batch.state == BatchState.QUEUED
        claimed(batch.pk).progress(done)
        lost(batch.pk)
        batch.refresh_from_db()
        said.append((batch.attempts, batch.error.partition(":")[0]))
    further = [(0, f"An attempt got to {done} of 10, further than those before") for done in (2, 4, 6, 8)]
    assert said == [*further, (1, "Attempt 1 of 2"), (2, "Attempt 2 of 2")]
    assert batch.state == BatchState.FAILED
    job_retry(job=batch.job, actor=None)
    claimed(batch.pk).progress(1)
    lost(batch.pk)
    batch.refresh_from_db()
    assert (batch.state, batch.attempts) == (BatchState.QUEUED, 0)


def test_a_batch_whose_worker_keeps_dying_is_blamed_by_name_each_time_and_fails(batch, caplog, settings):
    settings.BATCH_MAX_ATTEMPTS = 4
    errors, waits = [], []
    for _ in range(4):
        claimed(batch.pk)
        expire(batch)
        assert lease_claim(str(batch.pk)) is None
        batch.refresh_from_db()
        errors.append(batch.error)
        waits.append(round((batch.due_at - database_now()).total_seconds()))
        expire(batch)
    assert errors == [blame(1), blame(2), blame(3), blame(4)]
    # What else waits comes first.
    assert waits[:3] == [2, 4, 8]
    assert batch.state == BatchState.FAILED
    assert (Job.objects.get().state, Job.objects.get().reason) == (JobState.FAILED, blame(4))
    said = [record.getMessage() for record in caplog.records]
    name = f"Batch {batch.pk} (stage 0, number 1; tests.work) of the job {batch.job_id}, 'A test'"
    assert said == [f"{name}: {blame(attempt)}" for attempt in (1, 2, 3, 4)]


def test_what_gave_way_or_failed_blames_no_worker(batch, caplog):
    claimed(batch.pk).give_way()
    expire(batch)

    def fails(lease: Lease) -> None:
        raise RuntimeError("no luck")

    batch_work(str(batch.pk), fails)
    expire(batch)
    assert claimed(batch.pk).batch.error == "RuntimeError: no luck"
    assert "sign of life" not in caplog.text


def test_a_batch_that_waits_for_nothing_more_shows_again_why_it_is_tried_again(batch):
    claimed(batch.pk)
    lost(batch.pk)
    lease = claimed(batch.pk)
    for said, shown in (("Waiting for a place.", "Waiting for a place."), ("", blame(1))):
        lease.note(said)
        batch.refresh_from_db()
        assert batch.error == shown


@pytest.mark.parametrize("writes", [True, False])
@pytest.mark.django_db(transaction=True)
def test_the_process_of_a_batch_that_is_silent_for_too_long_ends(writes, batch, settings, monkeypatch):
    settings.BATCH_LEASE_SECONDS, settings.BATCH_MAX_SECONDS = 0.3, 0.2
    ended = threading.Event()
    monkeypatch.setattr("toolevals.life.end_now", ended.set)

    def long(lease):
        for _ in range(20):
            if ended.wait(0.05):
                return
            if writes:
                lease.progress(1)

    batch_work(str(batch.pk), long)
    assert ended.is_set() != writes


def test_a_worker_that_lost_its_batch_stops_silently(batch):
    def lose(lease):
        lost(batch.pk)
        claimed(batch.pk)
        with lease.transaction():
            raise AssertionError("nothing may be written")

    batch_work(str(batch.pk), lose)
    batch.refresh_from_db()
    assert (batch.state, batch.attempts, batch.error) == (BatchState.LEASED, 2, blame(1))


def test_a_failure_after_the_lease_was_lost_changes_nothing(batch):
    def lose_and_fail(lease):
        lost(batch.pk)
        claimed(batch.pk)
        raise RuntimeError("too late")

    batch_work(str(batch.pk), lose_and_fail)
    batch.refresh_from_db()
    assert (batch.state, batch.error) == (BatchState.LEASED, blame(1))


def test_a_worker_whose_job_is_cancelled_gives_the_batch_up(batch):
    def cancelled(lease):
        job_cancel(job=batch.job, actor=None)
        lease.progress(1)

    batch_work(str(batch.pk), cancelled)
    batch.refresh_from_db()
    assert (batch.state, batch.lease_token) == (BatchState.CANCELLED, None)


def test_a_batch_that_is_not_due_is_not_worked_on(batch):
    def never(lease):
        raise AssertionError("it is not due")

    Batch.objects.update(due_at=database_now() + timedelta(seconds=9))
    batch_work(str(batch.pk), never)
    Batch.objects.update(due_at=database_now())
    job_cancel(job=batch.job, actor=None)
    batch_work(str(batch.pk), never)


def test_extending_tells_a_cancelled_job_from_a_lost_lease(batch):
    lease = claimed(batch.pk)
    job_cancel(job=batch.job, actor=None)
    with pytest.raises(JobCancelled):
        lease.extend()


@pytest.mark.django_db(transaction=True)
def test_a_slow_batch_stays_with_its_worker(job_of, settings):
    settings.BATCH_LEASE_SECONDS = 0.3
    batch = job_of([{}]).batches.get()

    def slow(lease):
        claimed_until = Batch.objects.get(pk=batch.pk).due_at
        pause = threading.Event()
        for _ in range(200):
            pause.wait(0.05)
            if Batch.objects.get(pk=batch.pk).due_at > claimed_until:
                return
        raise AssertionError("nobody extended the lease")

    batch_work(str(batch.pk), slow)
    assert Job.objects.get().state == JobState.SUCCEEDED


@pytest.mark.django_db(transaction=True)
def test_of_many_workers_at_once_one_gets_each_batch(job_of):
    job = job_of([{}] * 20)
    batches = [str(pk) for pk in job.batches.values_list("pk", flat=True)]
    won: list[str] = []
    start = threading.Barrier(6)

    def worker() -> None:
        start.wait()
        won.extend(pk for pk in batches if lease_claim(pk))
        connection.close()

    threads = [threading.Thread(target=worker) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == sorted(batches)


@pytest.mark.django_db(transaction=True)
def test_batches_that_end_together_end_the_job_once(job_of):
    job = job_of([{}] * 6, [{}])
    leases = [claimed(pk) for pk in job.batches.filter(stage=0).values_list("pk", flat=True)]
    start = threading.Barrier(len(leases))

    def end(lease) -> None:
        start.wait()
        with lease.finish():
            lease.report({"ended": 1})
        connection.close()

    threads = [threading.Thread(target=end, args=[lease]) for lease in leases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    job.refresh_from_db()
    assert (job.state, job.stage, job.report) == (JobState.RUNNING, 1, {"ended": 6})
