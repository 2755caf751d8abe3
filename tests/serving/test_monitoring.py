"""The monitoring of a site that has started as installations do, asked over HTTP."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPResponse
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.fixtures.kept_python import KeptPython
from tests.fixtures.prepared import prepared_copy
from tests.servers import PostgresServer, RedisServer
from tests.servers.process import free_port
from toolevals.serving.application import Application

pytestmark = pytest.mark.servers
ASKED, PATIENCE_SECONDS = 40, 90
INGEST = Path(__file__).with_name("sentry_ingest.py")
FAILING = """
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Queue
from toolevals.workspace.projects.services import project_create
project = project_create(actor=None, slug="shop", name="Shop")
plan = BatchPlan("runs.converse", {"run": "01980000-0000-7000-8000-000000000000"}, queue=Queue.AGENT)
print(job_create(project=project, actor=None, kind="run", title="No run", batches=[plan]).pk)
"""

NO_TOKENS = "from django.db import connection; connection.cursor().execute('DROP TABLE workspace_apitoken CASCADE')"


@contextmanager
def site(folder: Path, **environment: str) -> Iterator[Application]:
    """Start the web server alone; what is said of it and of a worker stands in `log`."""
    here = {"DATABASE_URL": "", "REDIS_URL": "", "DJANGO_SETTINGS_MODULE": "toolevals.settings", **environment}
    with Application(python=sys.executable, data=folder / "data", port=free_port(), environment=here) as application:
        application.data.mkdir(mode=0o700, exist_ok=True)
        application.prepare(sample=False)
        before = os.dup(2)
        with (folder / "log").open("ab") as file:
            os.dup2(file.fileno(), 2)
        try:
            application.web_start()
            yield application
        finally:
            os.dup2(before, 2)
            os.close(before)


def asked(application: Application, path: str, **headers: str) -> tuple[int, str, dict[str, str]]:
    """Return the status, the text and the headers of an answer."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    answer: HTTPResponse | HTTPError
    try:
        answer = urlopen(Request(application.url + path, headers=named), timeout=30)
    except HTTPError as error:
        answer = error
    with answer:
        return int(answer.status or 0), answer.read().decode(), dict(answer.headers)


def series(text: str) -> dict[tuple[str, ...], float]:
    """Return the values of all series by their name and the values of their labels."""
    return {
        (sample.name, *(sample.labels[name] for name in sorted(sample.labels))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def until(holds: Callable[[], bool]) -> None:
    """Wait for a condition."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def counted_and_ready(application: Application, **headers: str) -> None:
    """Hold what all processes of the web server counted together against what was asked, and let a worker come."""
    status, text, _ = asked(application, "/readyz")
    assert status == 503
    assert json.loads(text)["parts"] == {
        "database": "ok", "broker": "ok", "migrations": "ok", "disk": "ok",
        "workers": "silent", "sweeper": "no duty has run yet",
    }  # fmt: skip
    for _ in range(ASKED):
        assert asked(application, "/sign-in/")[0] == 200
    found = series(asked(application, "/metrics", **headers)[1])
    assert found[("toolevals_requests_total", "account_login", "2xx")] == ASKED
    assert found[("toolevals_request_seconds_count", "account_login")] == ASKED
    assert (found[("toolevals_ready", "database")], found[("toolevals_ready", "workers")]) == (1, 0)
    application.worker_start()
    until(lambda: asked(application, "/readyz")[0] == 200)


def test_a_first_start_on_sqlite_says_nothing_and_counts_over_its_processes(tmp_path, applications):
    prepared_copy(applications.prepared, tmp_path / "data", sample=False)
    with site(tmp_path) as application:
        counted_and_ready(application)
        folders = list((application.data / "temporary").glob("requests-*"))
        assert len(folders) == 1
        assert len(list(folders[0].glob("counter_*.db"))) > 1
        # Nothing of root, nothing of a host without a name.
        assert (tmp_path / "log").read_text() == ""
        # A probe may ask for any name; figures are for who asks this machine by its own.
        assert asked(application, "/metrics", Host="evals.example.org")[0] == 401
        assert asked(application, "/metrics", X_Forwarded_For="10.0.0.1")[0] == 401
    assert not folders[0].exists()


@pytest.fixture
def ingest(tmp_path) -> Iterator[tuple[str, Path]]:
    """A server that takes what is sent to Sentry: its address, and the file to which it writes."""
    port, taken = free_port(), tmp_path / "taken"
    taken.touch()
    server = subprocess.Popen([sys.executable, INGEST, str(port), str(taken)])
    yield f"http://public@127.0.0.1:{port}/1", taken
    server.kill()
    server.wait()


def events_of(file: Path) -> dict[str, Any]:
    """Return the last event of each logger."""
    return {event["logger"]: event for event in (json.loads(line)["payload"] for line in file.read_text().splitlines())}


def errors_without_what_people_wrote(taken: Path, job: str) -> None:
    """Hold what Sentry was sent of a request and of a batch that failed."""
    events = events_of(taken)
    web, batch = events["django.request"], events["toolevals.workspace.jobs.leases"]
    assert (web["transaction"], web["tags"]) == ("workspace-api:me", {"request_id": "edge-7.b"})
    assert web["exception"]["values"][-1]["type"] == "ProgrammingError"
    assert (batch["tags"]["job_id"], batch["logentry"]) == (job, {"message": "Batch %s failed at attempt %s."})
    assert batch["exception"]["values"][-1]["type"] == "Run.DoesNotExist"
    assert batch["exception"]["values"][-1]["stacktrace"]["frames"][-1]["lineno"] > 0
    text = taken.read_text()
    assert [words for words in ("hush", "does not exist", "SELECT", "query does") if words in text] == []
    assert {json.loads(line)["type"] for line in text.splitlines()} == {"event"}


def test_on_postgresql_and_redis_every_line_of_the_log_is_json_with_its_ids_and_errors_reach_sentry(
    tmp_path, applications, ingest, postgres_server: PostgresServer, redis_server: RedisServer
):
    prepared_copy(applications.prepared, tmp_path / "data", sample=False)
    environment = {
        "DATABASE_URL": postgres_server.database_migrated("monitored"),
        "REDIS_URL": redis_server.database_url(),
        "SWEEP_SECONDS": "0.5",
        "TOOLEVALS_LOG_FORMAT": "json",
        "TOOLEVALS_METRICS_TOKEN": "of-the-operator",
        "TOOLEVALS_SENTRY_DSN": ingest[0],
    }
    with site(tmp_path, **environment) as application:
        counted_and_ready(application, Authorization="Bearer of-the-operator")
        assert asked(application, "/metrics")[0] == 401
        assert asked(application, "/nowhere", X_Request_Id="edge-7.a")[2]["X-Request-Id"] == "edge-7.a"
        made = asked(application, "/nowhere", X_Request_Id='a"b')[2]["X-Request-Id"]
        python = KeptPython(application.environment)
        try:
            job = python.run(FAILING).strip()
            until(lambda: "toolevals.workspace.jobs.leases" in events_of(ingest[1]))
            python.run(NO_TOKENS)
        finally:
            python.close()
        said = {"Authorization": "Bearer te_hush", "X_Request_Id": "edge-7.b", "Cookie": "a=hush"}
        assert asked(application, "/api/v1/me/?q=hush", **said)[0] == 500
        until(lambda: "django.request" in events_of(ingest[1]))
        errors_without_what_people_wrote(ingest[1], job)
        until(lambda: job in (tmp_path / "log").read_text())

        def running() -> float | None:
            """Return how many runs are at work: figures of the database are kept for ten seconds."""
            figures = series(asked(application, "/metrics", Authorization="Bearer of-the-operator")[1])
            return figures.get(("toolevals_jobs", "run", "running"))

        until(lambda: running() == 1)
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    not_found = [line for line in lines if line["message"] == "Not Found: /nowhere"]
    assert [(line["request_id"], line["status"]) for line in not_found] == [("edge-7.a", 404), (made, 404)]
    assert len(made) == 36
    [failed, *_] = [line for line in lines if line.get("job_id") == job]
    assert failed["run_id"] == "01980000-0000-7000-8000-000000000000"
    assert (failed["level"], failed["logger"]) == ("ERROR", "toolevals.workspace.jobs.leases")
    assert "DoesNotExist" in failed["exception"]
