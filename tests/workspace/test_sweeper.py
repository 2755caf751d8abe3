"""Ringing, the sweeper's rounds and its regular duties."""

from __future__ import annotations

import os
from datetime import timedelta
from queue import SimpleQueue

import pytest
from celery import current_app
from django.db import OperationalError, transaction
from kombu.exceptions import OperationalError as BrokerAway
from kombu.transport.memory import Channel
from redis import Redis

from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs import turns as doorbell
from toolevals.workspace.jobs.sweeper import Sweeper, last_sweep, sweep_tasks_run
from toolevals.workspace.jobs.turns import RING_AGAIN, RING_AHEAD, RING_AHEAD_OF_SLOW, LocalDoorbell, ring_due
from toolevals.workspace.models import Batch, Queue, SweepTask

from .tasks import claimed

CALLS: list[object] = []


def duty(now: object) -> None:
    CALLS.append(now)


def broken_duty(now: object) -> None:
    raise RuntimeError("broken")


@pytest.fixture
def rung(monkeypatch, settings) -> list[str]:
    """The ids of the batches that were announced, as with a broker that everybody hears."""
    heard: list[str] = []
    settings.REDIS_URL = "redis://broker"
    monkeypatch.setattr(current_app, "send_task", lambda _name, args, **_: heard.append(args[0]))
    return heard


def ids(batches) -> list[str]:
    return [str(batch.pk) for batch in batches]


def test_due_batches_are_announced_by_the_name_of_their_task_most_urgent_first(job_of, rung):
    later, urgent = job_of([{}]), job_of([{}], [{}], priority=1)
    assert ring_due() == 2
    assert rung == ids([urgent.batches.get(stage=0), later.batches.get()])


def test_a_test_rings_in_queues_of_its_own(job_of, settings):
    job_of([{}])
    own = f"{settings.CELERY_BROKER_TRANSPORT_OPTIONS['global_keyprefix']}io"
    with Redis.from_url(settings.REDIS_URL) as broker:
        heard, before = broker.llen("io"), broker.llen(own)
        assert ring_due() == 1
        assert (broker.llen("io"), broker.llen(own)) == (heard, before + 1)


def test_no_batch_is_announced_twice_in_a_short_time_and_every_waiting_one_again_later(job_of, rung):
    job_of([{}])
    assert [ring_due(), ring_due()] == [1, 0]
    Batch.objects.update(rung_at=database_now() - RING_AGAIN - timedelta(seconds=1))
    assert ring_due() == 1


def test_a_batch_at_work_is_not_announced_but_an_overdue_one_is(job_of, rung):
    batch = job_of([{}]).batches.get()
    claimed(batch.pk)
    assert ring_due() == 0
    Batch.objects.update(due_at=database_now() - timedelta(seconds=1))
    assert ring_due() == 1


def test_an_overdue_batch_is_announced_at_once_however_lately_it_was(job_of, rung):
    batch = job_of([{}]).batches.get()
    ring_due()
    claimed(batch.pk)
    past = database_now() - timedelta(seconds=1)
    Batch.objects.update(rung_at=past - timedelta(seconds=2), due_at=past)
    assert [ring_due(), ring_due()] == [1, 0]


def test_only_so_many_are_announced_ahead(job_of, rung):
    job_of([{}] * (RING_AHEAD + 5))
    assert [ring_due(), ring_due()] == [RING_AHEAD, 0]
    claimed(rung[0])
    assert ring_due() == 1


def test_fewer_are_announced_of_slow_work_and_quick_work_is_not_held_up_by_it(job_of, rung):
    job_of([{}] * 5, queue=Queue.AGENT)
    assert ring_due() == RING_AHEAD_OF_SLOW
    quick = job_of([{}], queue=Queue.GRADE)
    assert ring_due() == 1
    assert rung[-1] == str(quick.batches.get().pk)


def test_a_worker_with_the_in_memory_broker_announces_no_more_than_it_can_do_next(job_of, monkeypatch, settings):
    settings.REDIS_URL = ""
    monkeypatch.setattr(LocalDoorbell, "pid", os.getpid())
    waiting: SimpleQueue[str] = SimpleQueue()
    monkeypatch.setattr(Channel, "queues", {Queue.IO: waiting})
    monkeypatch.setattr(current_app, "send_task", lambda _name, args, **_: waiting.put(args[0]))
    job_of([{}] * 3)
    assert [ring_due(), ring_due()] == [1, 0]
    waiting.get()
    assert ring_due() == 1


def test_the_batch_that_is_taken_up_announces_the_next_one(job_of, rung, django_capture_on_commit_callbacks):
    job = job_of([{}] * (RING_AHEAD + 1))
    ring_due()
    with django_capture_on_commit_callbacks(execute=True):
        claimed(rung[0])
    assert rung == ids(job.batches.order_by("number"))


def test_the_last_batch_of_a_stage_announces_the_next_stage(job_of, rung, django_capture_on_commit_callbacks):
    job = job_of([{}], [{}, {}])
    with django_capture_on_commit_callbacks(execute=True), claimed(job.batches.first().pk).finish():
        pass
    assert rung == ids(job.batches.filter(stage=1).order_by("number"))


def test_a_broker_that_is_away_is_no_error_and_is_tried_again(job_of, rung, monkeypatch, caplog):
    def away(*_, **__):
        raise BrokerAway("connection refused")

    job_of([{}])
    with monkeypatch.context() as patch:
        patch.setattr(current_app, "send_task", away)
        assert ring_due() == 0
    assert "connection refused" in caplog.text
    assert ring_due() == 1


def test_a_process_that_no_worker_hears_does_not_ring(job_of, rung, monkeypatch, settings):
    settings.REDIS_URL = ""
    job_of([{}])
    monkeypatch.setattr(LocalDoorbell, "pid", os.getpid() + 1)
    assert ring_due() == 0
    assert rung == []


@pytest.mark.django_db(transaction=True)
def test_a_new_job_rings_only_after_its_transaction(job_of, rung):
    with transaction.atomic():
        job = job_of([{}])
        assert rung == []
    assert rung == ids(job.batches.all())


@pytest.mark.django_db(transaction=True)
def test_ringing_that_breaks_does_not_break_the_request(job_of, rung, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("broken")

    monkeypatch.setattr(doorbell, "ring_due", broken)
    assert job_of([{}]).pk


def test_a_regular_duty_runs_once_in_its_period(db, settings):
    CALLS.clear()
    name = f"{__name__}.duty"
    settings.SWEEP_TASKS = {name: 60}
    now = database_now()
    assert [sweep_tasks_run(now), sweep_tasks_run(now), sweep_tasks_run(now)] == [[name], [], []]
    SweepTask.objects.update(due_at=now)
    assert sweep_tasks_run(database_now()) == [name]
    assert CALLS[0] == now
    assert len(CALLS) == 2


def test_every_regular_duty_exists_and_leaves_a_sign_of_life(db, settings):
    assert last_sweep() is None
    now = database_now()
    assert set(sweep_tasks_run(now)) == set(settings.SWEEP_TASKS)
    assert last_sweep() == now


def test_a_round_rings_and_runs_the_duties(job_of, rung, settings):
    settings.SWEEP_TASKS = {f"{__name__}.duty": 60}
    CALLS.clear()
    job_of([{}])
    Sweeper().round()
    assert len(rung) == len(CALLS) == 1


def test_the_sweeper_survives_a_database_that_is_away_and_a_duty_that_breaks(db, settings, monkeypatch, caplog):
    sweeper = Sweeper()

    def away() -> int:
        raise OperationalError("the database is away")

    monkeypatch.setattr("toolevals.workspace.jobs.sweeper.close_old_connections", lambda: None)
    monkeypatch.setattr("toolevals.workspace.jobs.sweeper.connection.close", lambda: None)
    monkeypatch.setattr("toolevals.workspace.jobs.sweeper.ring_due", away)
    assert sweeper._try(sweeper.round) is False
    monkeypatch.setattr("toolevals.workspace.jobs.sweeper.ring_due", lambda: 0)
    settings.SWEEP_TASKS = {f"{__name__}.broken_duty": 60}
    assert sweeper._try(sweeper.round) is True
    assert "the database is away" in caplog.text
    assert "broken" in caplog.text
