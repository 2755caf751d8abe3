"""Test whose batches are announced next, and when slow work gives way."""

from __future__ import annotations

import pytest
from celery import current_app
from django.db import connection

from toolevals.workspace.bulk import tables_analyze
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import JobCancelled, Lease
from toolevals.workspace.jobs.services import job_cancel, job_pause
from toolevals.workspace.jobs.turns import name_unknown, next_turns, queues_served
from toolevals.workspace.models import Batch, BatchState, Job, Queue
from toolevals.workspace.projects.services import project_create

from .tasks import claimed

MANY = 40


@pytest.fixture
def other(project):
    return project_create(actor=None, slug="other", name="Other")


def names(ahead: int, queue: Queue = Queue.IO) -> list[str]:
    """Return the projects whose batches are announced next, and count them as announced."""
    turns = next_turns(database_now(), {queue: ahead})
    Batch.objects.filter(pk__in=[turn.batch for turn in turns]).update(rung_at=database_now())
    slugs = dict(Batch.objects.values_list("pk", "job__project__slug"))
    return [slugs[turn.batch] for turn in turns]


def test_projects_take_turns_however_much_one_of_them_wants(job_of, project, other):
    job_of([{}] * MANY)
    job_of([{}] * 3, owner=other)
    assert names(6) == ["shop", "other"] * 3


def test_the_project_with_the_least_at_work_is_next(job_of, project, other):
    busy = job_of([{}] * MANY)
    for batch in busy.batches.order_by("number")[:5]:
        claimed(batch.pk)
    job_of([{}] * 7, owner=other)
    assert names(5) == ["other"] * 5
    assert names(5 + 2) == ["shop", "other"]


def test_what_is_more_urgent_comes_before_whose_turn_it_is(job_of, project, other):
    job_of([{}] * 3, priority=5)
    job_of([{}] * 3, owner=other)
    assert names(4) == ["shop", "shop", "shop", "other"]


def test_no_queue_is_held_up_by_another(job_of):
    job_of([{}] * MANY, queue=Queue.AGENT)
    job_of([{}], queue=Queue.GRADE)
    turns = next_turns(database_now(), dict.fromkeys(Queue.values, 2))
    assert [turn.queue for turn in turns] == ["grade", "agent", "agent"]


def test_the_announcement_of_many_costs_a_query_for_each_project_that_waits(job_of, other, django_assert_num_queries):
    job_of([{}] * MANY)
    job_of([{}] * MANY, owner=other)
    project_create(actor=None, slug="idle", name="Idle")
    with django_assert_num_queries(5 + 2):
        assert len(next_turns(database_now(), {Queue.IO: 8})) == 8


def test_the_announcement_costs_the_same_however_many_wait(job_of, project, other):
    for owner in (project, other):
        job_of([{}] * MANY, owner=owner)
    tables_analyze(Batch, Job)
    few = _steps()
    for owner in (project, other):
        job_of([{}] * MANY * 50, owner=owner)
    tables_analyze(Batch, Job)
    assert _steps() < 2 * few


def _steps() -> int:
    """Return how many tens of instructions SQLite needs for an announcement."""
    taken: list[int] = []

    def note() -> int:
        taken.append(1)
        return 0

    connection.ensure_connection()
    connection.connection.set_progress_handler(note, 10)
    try:
        assert len(next_turns(database_now(), dict.fromkeys(Queue.values, 8))) == 8
    finally:
        connection.connection.set_progress_handler(None, 0)
    return len(taken)


def test_the_next_jobs_of_a_project_fill_what_one_leaves_free(job_of, other):
    job_of([{}], priority=1)
    job_of([{}] * 2)
    job_of([{}] * MANY)
    assert names(8) == ["shop"] * 8
    numbers = Batch.objects.exclude(rung_at=None).order_by("id").values_list("job__priority", "number")
    assert list(numbers) == [(1, 1), (0, 1), (0, 2), *((0, number) for number in range(1, 6))]


def test_what_a_worker_left_behind_is_announced_again(job_of, project):
    job = job_of([{}] * 2, owner=project)
    first = job.batches.order_by("number").first()
    claimed(first.pk)
    Batch.objects.filter(pk=first.pk).update(due_at=database_now())
    left, _ = next_turns(database_now(), {Queue.IO: 8})
    assert left.batch == first.pk
    job_pause(job=job, actor=None)
    assert next_turns(database_now(), {Queue.IO: 8}) == []


@pytest.fixture
def served(monkeypatch):
    """A function that says which queues this process serves."""

    def serve(*queues: Queue) -> None:
        known = current_app.amqp.queues
        monkeypatch.setattr(known, "_consume_from", {queue: known[queue] for queue in queues})

    return serve


def test_slow_work_gives_way_to_quick_work_that_waits(job_of, project):
    agent = claimed(job_of([{}], queue=Queue.AGENT).batches.get().pk)
    assert not agent.must_give_way()
    grading = job_of([{}], queue=Queue.GRADE)
    agent = claimed_anew(agent)
    assert agent.must_give_way()
    claimed(grading.batches.get().pk)
    # Somebody has it in hand.
    assert not claimed_anew(agent).must_give_way()


def test_a_worker_for_agents_alone_does_not_give_way_to_what_others_do(job_of, served):
    served(Queue.AGENT)
    assert queues_served() == ["agent"]
    agent = claimed(job_of([{}], queue=Queue.AGENT).batches.get().pk)
    job_of([{}], queue=Queue.GRADE)
    assert not agent.must_give_way()


def test_slow_work_does_not_give_way_to_other_slow_work(job_of):
    agent = claimed(job_of([{}, {}], queue=Queue.AGENT).batches.first().pk)
    job_of([{}], queue=Queue.JUDGE)
    assert not agent.must_give_way()


def test_a_batch_that_gave_way_is_taken_up_again_and_has_not_failed(job_of, run_jobs):
    job = job_of([{}], size=4, queue=Queue.AGENT)
    for _ in range(10):
        lease = claimed(job.batches.get().pk)
        lease.give_way()
        batch = job.batches.get()
        assert (batch.state, batch.attempts, batch.lease_token) == (BatchState.QUEUED, 0, None)
        Batch.objects.update(due_at=database_now())
    assert run_jobs() == 1
    job.refresh_from_db()
    assert job.state == "succeeded"


def test_a_batch_of_a_cancelled_job_is_not_put_back(job_of):
    job = job_of([{}], queue=Queue.AGENT)
    lease = claimed(job.batches.get().pk)
    job_cancel(job=job, actor=None)
    with pytest.raises(JobCancelled):
        lease.give_way()


def test_slow_work_gives_way_when_its_job_is_paused(job_of):
    job = job_of([{}], queue=Queue.AGENT)
    lease = claimed(job.batches.get().pk)
    job_pause(job=job, actor=None)
    assert lease.must_give_way()


def claimed_anew(lease: Lease) -> Lease:
    """Return the lease as it looks to who has not looked in the last second."""
    lease._look_again_at = 0.0
    return lease


@pytest.fixture
def of_a_newer_version(job_of):
    """Return a function that makes a job of a task that this version does not know, twice the ring's size and more."""

    def make(task: str, count: int = MANY, queue: Queue = Queue.IO):
        job = job_of([{}] * count, queue=queue)
        job.batches.update(task=task)
        return job

    return make


def test_tasks_of_a_newer_version_hold_nothing_up_and_are_named_once(job_of, of_a_newer_version, caplog, run_jobs):
    left = [of_a_newer_version("newer.one"), of_a_newer_version("newer.two")]
    done = job_of([{}, {}])
    ahead: dict[str, int] = {Queue.IO: 2}
    for _ in range(3):
        assert {turn.batch for turn in next_turns(database_now(), ahead)} == {each.pk for each in done.batches.all()}
    # Others that know them have announced them: they take no place of what is known.
    Batch.objects.filter(task__startswith="newer.").update(rung_at=database_now())
    assert len(next_turns(database_now(), ahead)) == 2
    for _ in range(2):
        name_unknown()
    assert run_jobs() == 2
    said = [record.getMessage() for record in caplog.records if "newer." in record.getMessage()]
    assert [message.partition(" is not")[0] for message in said] == ["The task newer.one", "The task newer.two"]
    for job in left:
        assert {(each.state, each.attempts) for each in job.batches.all()} == {(BatchState.QUEUED, 0)}


def test_slow_work_does_not_give_way_to_tasks_that_this_version_does_not_know(job_of, of_a_newer_version):
    of_a_newer_version("newer.quick", queue=Queue.GRADE)
    next_turns(database_now(), {Queue.GRADE: 1})
    assert not claimed(job_of([{}], queue=Queue.AGENT).batches.get().pk).must_give_way()


def test_a_task_that_is_known_after_all_is_announced(of_a_newer_version):
    job = of_a_newer_version("newer.known", 1)
    assert next_turns(database_now(), {Queue.IO: 1}) == []
    current_app.tasks["newer.known"] = current_app.tasks["tests.work"]
    try:
        [turn] = next_turns(database_now(), {Queue.IO: 1})
    finally:
        del current_app.tasks["newer.known"]
    assert turn.batch == job.batches.get().pk
