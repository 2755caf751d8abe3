"""The operators' page: what it shows is what the rows say, and a failed job is retried once."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.urls import reverse

from reports.monitoring import views as metrics
from reports.operations.queries import storage, without_values, workers
from reports.operations.table import TABLES
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.jobs.signs import WorkerSign
from toolevals.workspace.models import AuditEntry, Batch, BatchState, Job, JobState, Upload, Worker
from toolevals.workspace.projects.services import project_create

pytestmark = pytest.mark.django_db
PAGE = "/operations/"


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    """Have each test read anew."""
    monkeypatch.setattr(metrics, "_kept", metrics._Kept())
    cache.delete("operations-storage")


@pytest.fixture
def as_owner(owner) -> Client:
    """A browser in which the owner of the installation has signed in."""
    browser = Client()
    browser.force_login(owner)
    return browser


@pytest.fixture
def failed(project) -> Job:
    """A job of which one batch is done and two have failed."""
    plans = [BatchPlan("tests.work", {})] * 3
    job = job_create(project=project, actor=None, kind="import", title="Secret title", batches=plans)
    batches = list(job.batches.order_by("number"))
    Batch.objects.filter(pk=batches[0].pk).update(state=BatchState.DONE, done=1)
    Batch.objects.filter(pk__in=[each.pk for each in batches[1:]]).update(
        state=BatchState.FAILED, error="what a person wrote", attempts=4
    )
    Job.objects.filter(pk=job.pk).update(state=JobState.FAILED, finished_at=database_now())
    return job


def rows(client: Any, table: str) -> list[dict[str, str]]:
    """Return the rows of a table's file."""
    sent: Any = client.get(f"{PAGE}{table}.csv")
    return list(csv.DictReader(io.StringIO(b"".join(sent.streaming_content).decode())))


def body(answer: Any) -> str:
    """Return a page's text."""
    assert answer.status_code == 200
    return str(answer.content.decode())


def test_a_failed_job_is_retried_once_and_that_is_audited(as_owner, owner, failed):
    page = body(as_owner.get(PAGE))
    address = reverse("operations:retry", args=[failed.pk])
    assert address in page
    assert reverse("workspace:job", args=["shop", failed.pk]) in page
    assert "Secret title" not in page
    assert "what a person wrote" in page
    [row] = rows(as_owner, "failed")
    assert (row["job_id"], row["project"], row["kind"]) == (str(failed.pk), "shop", "import")
    assert (row["batches"], row["failed_batches"]) == ("3", "2")
    for _ in range(2):
        assert as_owner.post(address).status_code == 302
    states = sorted(failed.batches.values_list("state", flat=True))
    assert states == [BatchState.DONE, BatchState.QUEUED, BatchState.QUEUED]
    assert [act.actor for act in AuditEntry.objects.filter(verb="job_retry")] == [owner]
    assert rows(as_owner, "failed") == []
    assert [row["job_id"] for row in rows(as_owner, "running")] == [str(failed.pk)]
    assert as_owner.post(reverse("operations:retry", args=[uuid4()])).status_code == 404


def test_jobs_of_projects_of_others_are_shown_without_a_link_and_can_be_retried(as_owner, failed):
    other = project_create(actor=None, slug="other", name="Other")
    Job.objects.filter(pk=failed.pk).update(project=other)
    page = body(as_owner.get(PAGE))
    assert "<code>other</code>" in page
    assert "what a person wrote" not in page
    assert reverse("workspace:job", args=["other", failed.pk]) not in page
    as_owner.post(reverse("operations:retry", args=[failed.pk]))
    assert Job.objects.get(pk=failed.pk).state == JobState.RUNNING


def test_queues_and_leases_are_those_of_the_metrics(as_owner, project):
    plans = [BatchPlan("tests.work", {})] * 3
    job = job_create(project=project, actor=None, kind="test", title="A test", batches=plans)
    first, second, _ = job.batches.order_by("number")
    now = database_now()
    Batch.objects.filter(pk=first.pk).update(state=BatchState.LEASED, due_at=now - timedelta(minutes=2))
    Batch.objects.filter(pk=second.pk).update(state=BatchState.LEASED, due_at=now + timedelta(minutes=2))
    page = body(as_owner.get(PAGE))
    assert "2 batches at work" in page
    assert "1 lease lost" in page
    assert [row["batch_id"] for row in rows(as_owner, "leases")] == [str(first.pk)]
    waiting = {row["queue"]: int(row["waiting"]) for row in rows(as_owner, "queues")}
    assert waiting == {name: int(count) for (name,), count in _figure("queue_batches").items()}
    assert waiting["io"] == 1


def _figure(name: str) -> Any:
    return next(each.rows for each in metrics.kept_figures() if each.name == name)


def test_a_worker_signs_its_row_and_takes_it_away(as_owner, monkeypatch):
    sign = WorkerSign(["io", "grade"])
    sign.write()
    Worker.objects.update(seen_at=database_now() - timedelta(minutes=2))
    assert [each.is_silent for each in workers()] == [True]
    sign.write()
    assert [each.is_silent for each in workers()] == [True], "it signs every fifteen seconds"
    monkeypatch.setattr(sign, "_due_at", 0.0)
    sign.write()
    [row] = rows(as_owner, "workers")
    assert (row["queues"], row["is_silent"]) == ("grade, io", "false")
    Worker.objects.create(host="gone", process=1, queues="io", seen_at=database_now() - timedelta(days=2))
    WorkerSign(["io"]).write()
    assert "gone" not in {each.host for each in workers()}
    sign.remove()
    assert [each.queues for each in workers()] == ["io"]


def test_storage_is_what_is_there_by_project(as_owner, project, owner):
    other = project_create(actor=None, slug="other", name="Other")
    for each, size in ((project, 5), (project, 7), (other, 1000)):
        Upload.objects.create(project=each, user=owner, name="x", file=f"x/{size}", size=size)
    found = {(row["project"], row["kind"]): row for row in rows(as_owner, "storage")}
    assert [found[slug, "files"]["rows"] for slug in ("shop", "other")] == ["2", "1"]
    assert [found[slug, "files"]["bytes"] for slug in ("shop", "other")] == ["12", "1000"]
    assert int(found["other", "acts"]["rows"]) == AuditEntry.objects.filter(project=other).count() > 0
    assert bool(found["other", "acts"]["bytes"]) is (connection.vendor == "postgresql")
    assert storage().database_bytes > 100_000
    page = body(as_owner.get(f"{PAGE}storage/"))
    assert reverse("workspace:audit", args=["shop"]) in page
    assert reverse("workspace:audit", args=["other"]) not in page


def test_a_statement_is_shown_without_its_values(as_owner):
    asked = """SELECT "a" FROM t1 WHERE b = 'it''s Ann''s' AND c = 12.5 AND d IN (1, 2) AND e = 'cut off Ann"""
    shown = 'SELECT "a" FROM t1 WHERE b = ? AND c = ? AND d IN (?, ?) AND e = ?'
    assert without_values(asked) == shown
    page = body(as_owner.get(PAGE))
    assert ("SQLite keeps no times" in page) is (connection.vendor == "sqlite")


def test_the_rest_interface_has_the_same_rows_for_the_operators_token(client, as_owner, failed, settings):
    settings.METRICS_TOKEN = "operators-own"
    assert client.get("/api/v1/operations/").status_code == 401
    answer = client.get("/api/v1/operations/", headers={"Authorization": "Bearer operators-own"})
    assert answer.status_code == 200
    assert answer.json().keys() == TABLES.keys()
    for name in TABLES:
        assert len(answer.json()[name]) == len(rows(as_owner, name)), name
    assert answer.json()["failed"][0]["job_id"] == str(failed.pk)
    assert "Secret title" not in answer.content.decode()
