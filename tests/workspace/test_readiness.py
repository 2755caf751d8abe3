"""`/readyz`."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder

from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.sweeper import sweep_tasks_run
from toolevals.workspace.models import SweepTask

NAMES = ["database", "broker", "migrations", "disk", "workers", "sweeper"]


@pytest.fixture(autouse=True)
def broker_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test asks the broker, and leaves no answer to the next."""
    monkeypatch.setattr("toolevals.workspace.monitoring.readiness._broker_until", 0.0)
    monkeypatch.setattr("toolevals.workspace.monitoring.readiness._broker_said", "")


@pytest.fixture
def swept(db: None) -> None:
    """A worker has just done its regular duties."""
    sweep_tasks_run(database_now())


def wrong(client, query: str = "") -> dict[str, str]:
    """Return the parts that are not ready, after a look at whether the status says the same."""
    response = client.get(f"/readyz{query}")
    found = {name: state for name, state in response.json()["parts"].items() if state != "ok"}
    assert (response.status_code, response.json()["ready"]) == ((503, False) if found else (200, True))
    return found


def test_it_is_ready_once_a_worker_has_swept(client, db):
    assert wrong(client) == {"workers": "silent", "sweeper": "no duty has run yet"}
    assert wrong(client, "?exclude=workers&exclude=sweeper") == {}
    sweep_tasks_run(database_now())
    assert wrong(client) == {}
    assert list(client.get("/readyz").json()["parts"]) == NAMES


def test_a_part_of_another_name_is_refused(client, swept):
    response = client.get("/readyz?exclude=worker")
    assert response.status_code == 400
    assert "There is no part &#x27;worker&#x27; to exclude" in response.content.decode()


def test_each_part_is_named_that_is_out_of_order(client, swept, settings):
    SweepTask.objects.update(ran_at=database_now() - timedelta(minutes=2))
    assert wrong(client) == {"workers": "silent"}
    settings.DISK_RESERVE_BYTES = 2**62
    assert wrong(client) == {"disk": "low", "workers": "silent"}


def test_duties_that_no_worker_begins_are_late(client, swept):
    name = "toolevals.workspace.trash.services.trash_sweep"
    SweepTask.objects.filter(name=name).update(due_at=database_now() - timedelta(minutes=16))
    assert wrong(client) == {"sweeper": f"late: 1 of its duties, the longest {name}"}
    # What an older version did is no duty any more.
    SweepTask.objects.filter(name=name).update(name="toolevals.gone")
    assert wrong(client) == {}


def test_migrations_of_this_version_that_are_not_applied_are_counted(client, swept):
    assert wrong(client) == {}
    MigrationRecorder.Migration.objects.filter(app="traces", name="0001_initial").delete()
    found = wrong(client)["migrations"]
    assert found == "1 not applied, such as traces 0001_initial: run `python manage.py migrate`"


def test_a_broker_that_does_not_answer_is_unreachable(client, swept, settings):
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    assert wrong(client) == {"broker": "unreachable"}


def test_nothing_is_known_while_the_database_is_away(client, db, monkeypatch):
    def away(*_: object) -> None:
        raise OperationalError

    with monkeypatch.context() as patch:
        patch.setattr(connection, "cursor", away)
        found = wrong(client)
    unknown = "unknown: the database is away"
    assert found == {"database": "unreachable", "migrations": unknown, "workers": unknown, "sweeper": unknown}
