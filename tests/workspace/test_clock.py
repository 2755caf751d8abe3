"""The database's clock decides, whatever that of this machine shows."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime, timedelta

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from tests.fixtures.clocks import machine_clock_shift
from toolevals.cli.doctor import _clock
from toolevals.workspace import clock
from toolevals.workspace.jobs.leases import lease_claim
from toolevals.workspace.jobs.sweeper import sign_of_life
from toolevals.workspace.models import AuditEntry, Invitation, Role
from toolevals.workspace.people.services import invitation_create
from toolevals.workspace.tokens.services import UnknownToken, token_create, token_find

from .tasks import claimed

pytestmark = pytest.mark.django_db
AHEAD, BEHIND, A_MINUTE = timedelta(minutes=20), timedelta(minutes=-20), timedelta(minutes=1)


def test_a_worker_ahead_takes_no_lease_that_runs(job_of, monkeypatch):
    batch = job_of([{}]).batches.get()
    assert claimed(batch.pk)
    machine_clock_shift(monkeypatch, AHEAD)
    assert lease_claim(str(batch.pk)) is None


def test_a_lease_of_a_worker_behind_lasts_as_long_as_another(job_of, monkeypatch):
    batch = job_of([{}]).batches.get()
    machine_clock_shift(monkeypatch, BEHIND)
    claimed(batch.pk).extend()
    batch.refresh_from_db()
    monkeypatch.undo()
    assert batch.due_at > clock.database_now()


def test_a_server_behind_takes_no_expired_token(project, owner, monkeypatch):
    ended = clock.database_now() - A_MINUTE
    _, secret = token_create(project=project, actor=owner, user=owner, name="night", role=Role.VIEWER, expires_at=ended)
    machine_clock_shift(monkeypatch, BEHIND)
    with pytest.raises(UnknownToken):
        token_find(secret)


def test_a_server_behind_takes_no_session_and_no_invitation_that_ended(project, owner, client, monkeypatch):
    client.force_login(owner)
    _, secret = invitation_create(project=project, actor=owner, email="new@example.org", role=Role.VIEWER)
    Session.objects.update(expire_date=clock.database_now() - A_MINUTE)
    Invitation.objects.update(expires_at=clock.database_now() - A_MINUTE)
    machine_clock_shift(monkeypatch, BEHIND)
    assert client.get("/profile/").status_code == 302
    assert Client().get(f"/invitations/link/{secret}/").status_code == 410


@pytest.mark.parametrize("shift", [AHEAD, BEHIND])
def test_what_is_written_now_is_dated_by_the_database(project, owner, monkeypatch, shift):
    before = clock.database_now()
    machine_clock_shift(monkeypatch, shift)
    invitation_create(project=project, actor=owner, email="new@example.org", role=Role.VIEWER)
    written = AuditEntry.objects.get(verb="invitation_create").at
    assert abs(written - before) < A_MINUTE


def test_a_clock_that_agrees_is_named_nowhere(client, caplog):
    sign_of_life(clock.database_now())
    assert (clock.clock_difference(), _clock(), caplog.text) == ("", "agrees with the database's", "")
    assert client.get("/healthz").json()["clock"] == "ok"


@pytest.mark.parametrize(("shift", "side"), [(AHEAD, "ahead of"), (BEHIND, "behind")])
def test_a_difference_is_named_by_the_health_page_the_doctor_and_the_worker(client, monkeypatch, caplog, shift, side):
    now = clock.database_now()
    monkeypatch.setattr(clock, "database_now", lambda: now)
    monkeypatch.setattr(clock, "machine_now", lambda: now + shift)
    words = f"1200 seconds {side} the database's clock"
    assert client.get("/healthz").json()["clock"] == words
    with pytest.raises(RuntimeError, match=words):
        _clock()
    sign_of_life(now)
    assert words in caplog.text


def test_the_server_is_asked_seldom_and_by_no_query_of_a_page(monkeypatch, django_assert_num_queries):
    monkeypatch.setattr(clock, "_kept", None)
    with django_assert_num_queries(0):
        first = clock.database_now()
        kept = clock._kept
        assert clock.database_now() >= first
    assert clock._kept is kept
    assert abs(clock.machine_now() - first) < A_MINUTE
    monkeypatch.setattr(clock, "KEPT_SECONDS", -1.0)
    clock.database_now()
    assert clock._kept is not kept


class SlowConnection:
    """A connection to a database whose answers are late: each by the next of some seconds."""

    wrap_database_errors = nullcontext()

    def __init__(self, *late: float) -> None:
        self.late = list(late)
        self.connection = self

    def ensure_connection(self) -> None:
        pass

    close_if_health_check_failed = ensure_connection

    def cursor(self) -> AbstractContextManager[SlowConnection]:
        return nullcontext(self)

    def execute(self, _: str) -> SlowConnection:
        self.answer = clock.machine_now()
        time.sleep(self.late.pop(0))
        return self

    def fetchone(self) -> tuple[datetime]:
        return (self.answer,)


@pytest.mark.parametrize("late", [(0.3, 0.0), (0.3, 0.2, 0.0), (0.0,)])
def test_an_answer_that_was_late_is_asked_for_again(monkeypatch, late):
    monkeypatch.setattr(clock, "_kept", None)
    connection = SlowConnection(*late)
    now = clock._server_now(connection)
    assert abs(clock.machine_now() - now) < timedelta(seconds=0.05)
    assert connection.late == []


def test_a_database_that_is_always_late_is_not_asked_for_ever(monkeypatch):
    monkeypatch.setattr(clock, "_kept", None)
    now = clock._server_now(SlowConnection(*[0.1] * clock.READINGS))
    assert abs(clock.machine_now() - now) < timedelta(seconds=0.1)
