"""While the database is away or busy, or the disk full: 503 or 507, and a sentence, never a bare 500."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from types import SimpleNamespace

import psycopg
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import DatabaseError, OperationalError, connection
from django.db.backends.postgresql import base
from django.urls import reverse

from labeling.datasets.services import dataset_create
from tests.fixtures.kept_python import KeptPython
from tests.fixtures.people import person
from tests.fixtures.prepared import ALONE, prepared_copy
from toolevals.workspace.models import Upload
from toolevals.workspace.outages import AWAY, BUSY, FULL, outage_of

ASK = """
import json
from django.test import Client
client = Client(raise_request_exception=False, headers={"host": "localhost"})
client.cookies["sessionid"] = "x" * 32
answers = [client.get(path) for path in ("/", "/api/v1/projects/", "/healthz")]
said = [[a.status_code, a.headers.get("Retry-After"), a.headers["Content-Type"], a.content.decode()] for a in answers]
print(json.dumps(said))
"""


def caused(error: BaseException, cause: BaseException) -> BaseException:
    error.__cause__ = cause
    return error


def sqlite_error(code: int) -> OperationalError:
    cause = sqlite3.OperationalError("something")
    cause.sqlite_errorcode = code
    return caused(OperationalError("something"), cause)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("error", "outage"),
    [
        (sqlite_error(sqlite3.SQLITE_BUSY), BUSY),
        (sqlite_error(sqlite3.SQLITE_BUSY_SNAPSHOT), BUSY),
        (sqlite_error(sqlite3.SQLITE_IOERR), AWAY),
        (sqlite_error(sqlite3.SQLITE_CANTOPEN), AWAY),
        (sqlite_error(sqlite3.SQLITE_FULL), FULL),
        # A table that is not there is a fault of ours, and stays one.
        (sqlite_error(sqlite3.SQLITE_ERROR), None),
        (caused(OperationalError(), psycopg.OperationalError("connection refused")), AWAY),
        (caused(OperationalError(), psycopg.errors.AdminShutdown()), AWAY),
        (caused(OperationalError(), psycopg.errors.TooManyConnections()), AWAY),
        (caused(OperationalError(), psycopg.errors.DiskFull()), FULL),
        (caused(DatabaseError(), psycopg.errors.SyntaxError()), None),
        (OSError(28, "No space left on device"), FULL),
        (OSError(2, "No such file"), None),
        (ValueError(), None),
    ],
)
def test_outages_are_told_from_faults(error, outage):
    assert outage_of(error) is outage


@pytest.mark.servers
def test_a_database_that_refuses_connections_is_503_on_pages_api_and_health_check(tmp_path, applications):
    prepared_copy(applications.prepared, tmp_path / "data", sample=False)
    here = {"DATABASE_URL": "postgresql://somebody@127.0.0.1:9/nothing", "TOOLEVALS_DATA_DIR": str(tmp_path / "data")}
    with closing(KeptPython(os.environ | ALONE | here)) as python:
        page, api, health = json.loads(python.run(ASK))
    assert page[:2] == api[:2] == [503, "5"]
    assert "does not answer" in page[3]
    assert api[2] == "application/problem+json"
    assert json.loads(api[3])["status"] == 503
    assert (health[0], json.loads(health[3])["database"]) == (503, "unreachable")


@contextmanager
def held() -> Iterator[None]:
    """Let somebody else hold SQLite's one place for writers, or PostgreSQL's table of projects; nobody waits long."""
    postgres = connection.vendor == "postgresql"
    other = connection.copy()
    try:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '50ms'" if postgres else "PRAGMA busy_timeout = 50")
        with other.cursor() as cursor:
            cursor.execute("BEGIN" if postgres else "BEGIN IMMEDIATE")
            if postgres:
                cursor.execute("LOCK TABLE workspace_project IN SHARE MODE")
        yield
        other.connection.rollback()
    finally:
        other.close()
        connection.close()


def test_a_busy_database_is_503_and_the_same_request_is_taken_later(transactional_db, client):
    client.force_login(person("Somebody", is_installation_owner=True))
    client.raise_request_exception = False
    asked = {"slug": "later", "name": "Later"}
    with held():
        page = client.post(reverse("workspace:project-new"), asked)
        api = client.post("/api/v1/projects/", asked, content_type="application/json")
    assert (page.status_code, page["Retry-After"]) == (503, "5")
    assert "Nothing was saved" in page.content.decode()
    assert (api.status_code, api["Retry-After"], api["Content-Type"]) == (503, "5", "application/problem+json")
    assert client.post(reverse("workspace:project-new"), asked).status_code == 302


def end_by_the_database() -> None:
    """Have PostgreSQL end the connection of this test."""
    other = connection.copy()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    other.close()


def test_a_connection_that_the_database_ends_is_503_once(transactional_db, client):
    client.force_login(person("Somebody"))
    client.raise_request_exception = False
    end_by_the_database()
    assert client.get("/").status_code == 503
    connection.close_if_unusable_or_obsolete()
    assert client.get("/").status_code == 200


@pytest.mark.parametrize("clock", ["read lately", "to be read"])
def test_a_connection_that_the_database_ends_between_requests_is_made_anew(
    transactional_db, client, monkeypatch, clock
):
    client.force_login(person("Somebody"))
    assert connection.is_usable()
    monkeypatch.setattr(base.DatabaseWrapper, "is_usable", lambda _: False)
    assert connection.is_usable(), "the server was asked although nothing had come from it"
    monkeypatch.undo()
    end_by_the_database()
    if clock == "to be read":
        monkeypatch.setattr("toolevals.workspace.clock._kept", None)
    # As a request begins.
    connection.close_if_unusable_or_obsolete()
    assert client.get("/").status_code == 200


def test_a_full_disk_refuses_uploads_with_a_sentence_and_the_health_check_says_so(
    owner, project, client, settings, tmp_path, monkeypatch
):
    settings.MEDIA_ROOT = tmp_path
    client.force_login(owner)
    client.raise_request_exception = False
    free = settings.DISK_RESERVE_BYTES + 1000
    monkeypatch.setattr("os.statvfs", lambda _: SimpleNamespace(f_bavail=free, f_frsize=1))
    dataset_create(project=project, actor=owner, slug="core", name="Core")
    path = f"/api/v1/projects/{project.slug}/datasets/core/imports/"
    for size in (2000, settings.FILE_UPLOAD_MAX_MEMORY_SIZE + 1):
        answer = client.post(path, {"file": SimpleUploadedFile("a.jsonl", b"x" * size), "source": "jsonl"})
        assert answer.status_code == 507
        assert "disk is full" in answer.json()["detail"]
        assert not Upload.objects.exists()
    assert client.get("/healthz").json()["disk"] == "ok"
    free = settings.DISK_RESERVE_BYTES - 1
    assert client.get("/healthz").json()["disk"] == "low"
    # Pages go on, and so does what they write: the reserve is for that.
    assert client.post(reverse("workspace:project-new"), {"slug": "more", "name": "More"}).status_code == 302
