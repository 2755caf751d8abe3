"""`/healthz`."""

from __future__ import annotations

from datetime import timedelta

from django.db import OperationalError

from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.sweeper import sweep_tasks_run
from toolevals.workspace.models import SweepTask


def test_pages_work_and_workers_are_silent_until_one_has_swept(client, db):
    silent = {"database": "ok", "workers": "silent", "workers_seen_at": None, "disk": "ok", "clock": "ok"}
    assert client.get("/healthz").json() == silent
    sweep_tasks_run(database_now())
    assert client.get("/healthz").json()["workers"] == "ok"
    SweepTask.objects.update(ran_at=database_now() - timedelta(minutes=2))
    assert client.get("/healthz").json()["workers"] == "silent"


def test_a_database_that_is_away_is_503(client, db, monkeypatch):
    def away():
        raise OperationalError

    monkeypatch.setattr("toolevals.workspace.errors.last_sweep", away)
    response = client.get("/healthz")
    assert response.status_code == 503
    assert response.json() == {"database": "unreachable", "workers": "unknown", "disk": "ok"}
