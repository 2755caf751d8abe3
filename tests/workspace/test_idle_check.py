"""A sweeper at rest: it neither reads tables nor writes, and starts work as soon as there is some."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs import idle_check as rest
from toolevals.workspace.jobs.idle_check import ALIVE, CALM_SECONDS, DUTY_SECONDS, SIGN_SECONDS, IdleCheck
from toolevals.workspace.jobs.sweeper import Sweeper, last_sweep, sweep_tasks_run
from toolevals.workspace.models import Batch, BatchState

pytestmark = pytest.mark.django_db


@pytest.fixture
def version(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> list[int]:
    """What the database says of others' writes: the first number of the list."""
    said = [1]
    settings.DATA_DIR, settings.REDIS_URL = tmp_path, ""
    monkeypatch.setattr(rest, "_version", lambda: (0, said[0]))
    return said


def rested(now: float = 0.0) -> IdleCheck:
    """Return what a sweeper knows that has looked twice."""
    known = IdleCheck()
    assert not known.may_skip(now)
    assert not known.may_skip(now + 1)
    return known


def test_nothing_is_asked_once_nothing_has_changed_for_minutes(version, django_assert_num_queries):
    known = rested()
    assert not known.may_skip(CALM_SECONDS - 1)
    assert not known.may_skip(CALM_SECONDS)  # the first of the rare rounds of duties
    with django_assert_num_queries(0):
        assert all(known.may_skip(CALM_SECONDS + passed) for passed in range(1, 200, 5))
    assert not known.may_skip(CALM_SECONDS + DUTY_SECONDS)
    assert known.may_skip(CALM_SECONDS + DUTY_SECONDS + 1)


def test_a_change_by_others_ends_the_rest_at_once(version):
    known = rested()
    known.may_skip(CALM_SECONDS)
    assert known.may_skip(CALM_SECONDS + 1)
    version[0] += 1
    assert not known.may_skip(CALM_SECONDS + 1.25)
    assert not known.may_skip(2 * CALM_SECONDS)


def test_an_open_batch_is_waited_for_however_long_nothing_changes(version, job_of):
    job = job_of([{}])
    known = rested()
    assert not known.may_skip(CALM_SECONDS * 3)
    Batch.objects.filter(job=job).update(state=BatchState.DONE)
    assert not known.may_skip(CALM_SECONDS * 3 + 1)
    assert known.may_skip(CALM_SECONDS * 3 + 2)


def test_a_paused_job_lets_it_rest(version, job_of):
    job = job_of([{}])
    type(job).objects.filter(pk=job.pk).update(state="paused")
    known = rested()
    known.may_skip(CALM_SECONDS)
    assert known.may_skip(CALM_SECONDS + 1)


def test_a_duty_that_had_something_to_do_is_called_again_soon(version):
    known = rested()
    known.may_skip(CALM_SECONDS)
    known.note(3, CALM_SECONDS)
    assert not known.may_skip(CALM_SECONDS + 1)
    known.note(0, CALM_SECONDS + 100)
    known.may_skip(2 * CALM_SECONDS + DUTY_SECONDS)
    assert known.may_skip(2 * CALM_SECONDS + DUTY_SECONDS + 1)


def test_a_sign_of_life_at_rest_is_no_row(version, settings, tmp_path):
    settings.SWEEP_TASKS = {"toolevals.workspace.jobs.sweeper.sign_of_life": 15}
    long_ago = database_now() - timedelta(hours=1)
    assert last_sweep() is None
    sweep_tasks_run(long_ago)
    assert last_sweep() == long_ago
    known = rested()
    known.may_skip(CALM_SECONDS)
    known.may_skip(CALM_SECONDS + SIGN_SECONDS)
    assert (tmp_path / ALIVE).stat().st_mode & 0o777 == 0o600
    found = last_sweep()
    assert found is not None
    assert database_now() - found < timedelta(minutes=1)


def test_with_redis_every_round_is_done(version, settings):
    settings.REDIS_URL = "redis://localhost"
    known = rested()
    assert not known.may_skip(CALM_SECONDS * 9)


def test_sqlite_says_when_others_have_written(tmp_path):
    file = tmp_path / "any.sqlite3"
    with closing(sqlite3.connect(file)) as one, closing(sqlite3.connect(file)) as other:
        one.execute("PRAGMA journal_mode=WAL")
        other.execute("CREATE TABLE t (x)")

        def said() -> int:
            return int(one.execute("PRAGMA data_version").fetchone()[0])

        before = said()
        assert said() == before
        with other:
            other.execute("INSERT INTO t VALUES (1)")
        assert said() != before


def test_a_sweeper_skips_its_round_at_rest(monkeypatch):
    sweeper = Sweeper()
    done: list[str] = []
    monkeypatch.setattr(sweeper, "round", lambda: done.append("round"))
    monkeypatch.setattr(sweeper._rest, "may_skip", lambda _: bool(done))
    sweeper.round_if_due()
    sweeper.round_if_due()
    assert done == ["round"]
