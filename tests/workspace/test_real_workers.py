"""The work queue with real worker processes, on the embedded pair and on real servers; some of them are killed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from uuid import uuid4

import pytest

from tests.fixtures.prepared import prepared_copy
from tests.workspace.installation import Installation

pytestmark = pytest.mark.servers
BATCHES, SOME, MANY = 12, 3, 500
# Longer than a batch takes, so that those in hand end meanwhile.
AWAY_SECONDS = 3


@pytest.fixture
def embedded(tmp_path, applications) -> Iterator[Installation]:
    """SQLite and the in-memory broker."""
    prepared_copy(applications.prepared, tmp_path / "data", sample=False)
    with Installation(tmp_path / "data") as installation:
        yield installation


@pytest.fixture
def served(tmp_path, postgres_server, redis_server) -> Iterator[Installation]:
    """PostgreSQL and Redis."""
    database = postgres_server.database_migrated(f"queue_{uuid4().hex}")
    with Installation(
        tmp_path, DATABASE_URL=database, REDIS_URL=redis_server.database_url(), SWEEP_SECONDS="1"
    ) as installation:
        yield installation


@pytest.fixture(params=["embedded", "served"])
def installation(request: pytest.FixtureRequest) -> Installation:
    """Each of the two."""
    found: Installation = request.getfixturevalue(request.param)
    return found


def ended(installation: Installation) -> dict[str, object]:
    """Wait for the end and return the outcome, having checked that each batch took effect exactly once."""
    outcome: dict[str, object] = installation.drive("wait", BATCHES)
    assert outcome["state"] == "succeeded", installation.log()
    assert outcome["effects"] == [1] * BATCHES
    assert outcome["report"] == {"worked": BATCHES}
    assert outcome["progress"] == [BATCHES * 4, BATCHES * 4]
    return outcome


def test_workers_do_each_batch_once(installation):
    installation.drive("start", BATCHES)
    installation.worker(loaded=True)
    assert ended(installation)["attempts"] == BATCHES


def test_a_job_begun_while_workers_wait_is_heard_of(installation):
    installation.worker(loaded=True)
    installation.drive("start", BATCHES)
    ended(installation)


def test_a_worker_killed_in_the_middle_loses_nothing_and_does_nothing_twice(installation):
    installation.drive("start", BATCHES)
    worker = installation.worker()
    assert installation.drive("wait", SOME)["state"] == "running"
    installation.kill(worker)
    installation.worker()
    ended(installation)


def test_pool_processes_killed_in_the_middle_lose_nothing(served):
    served.drive("start", BATCHES)
    worker = served.worker()
    served.drive("wait", SOME)
    served.kill_pool_of(worker)
    ended(served)


def test_a_pool_process_that_stands_still_ends_and_its_batch_is_blamed(served):
    served.drive("project", 0)
    served.drive("poison", 0)
    worker = served.worker(1)
    assert served.drive("blamed", 0) == "Attempt 1 of 4: the worker that held it ended, or gave no sign of life."
    # The only process of the pool was held up.
    served.drive("begin", BATCHES)
    ended(served)
    assert worker.poll() is None
    assert "in work_task" in served.log_whole()


def test_two_workers_share_the_work_and_the_other_goes_on_when_one_is_killed(installation):
    installation.drive("start", BATCHES)
    one, _ = installation.worker(1), installation.worker(1)
    installation.drive("wait", SOME)
    installation.kill(one)
    ended(installation)


def test_a_broker_that_dies_and_comes_back_empty_loses_nothing(served, redis_server):
    served.drive("start", BATCHES)
    served.worker(loaded=True)
    served.drive("wait", SOME)
    redis_server.kill()
    redis_server.start()
    ended(served)


def test_workers_outlive_a_broker_that_is_away_while_they_finish(served, redis_server):
    served.drive("start", BATCHES)
    worker = served.worker(loaded=True)
    served.drive("wait", SOME)
    redis_server.kill()
    try:
        time.sleep(AWAY_SECONDS)
    finally:
        redis_server.start()
    ended(served)
    assert worker.poll() is None, served.log()


def test_a_job_made_while_the_broker_is_away_is_done_when_it_is_back(served, redis_server):
    served.worker(loaded=True)
    redis_server.kill()
    try:
        served.drive("start", BATCHES)
    finally:
        redis_server.start()
    ended(served)


def test_tasks_of_a_newer_version_are_left_for_others_and_hold_nothing_up(served):
    served.drive("project", 0)
    served.drive("strange", MANY)
    worker = served.worker(loaded=True)
    served.drive("begin", BATCHES)
    ended(served)
    assert worker.poll() is None
    said = served.log_whole()
    assert said.count("The task newer.work is not known to this version") == 1
    assert "Traceback" not in said
