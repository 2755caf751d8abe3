"""The steps of a test of the replica, which run in the Python of an installation."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from typing import Any

from django.db import OperationalError, connections
from django.test import Client
from django.test.utils import CaptureQueriesContext

from reports.models import PublicScore
from reports.public_scores.services import public_score_record
from toolevals.workspace import replica
from toolevals.workspace.models import Project, User

SCORE = {
    "benchmark": "BFCL",
    "version": "v4",
    "metric": "overall",
    "value": 0.7,
    "count": 200,
    "published_on": date(2026, 3, 1),
    "source": "https://example.org/leaderboard",
}


def project(_: int) -> None:
    """Make a project with an owner."""
    from toolevals.workspace.projects.services import project_create

    owner = User.objects.create(email="owner@example.test", name="Owner")
    project_create(actor=owner, slug="shop", name="Shop")


def write_and_read(times: int) -> None:
    """Record a score, and ask at once for the table of them; print what was shown, and who was asked."""
    client, project = _client(), Project.objects.get()
    found: dict[str, Any] = {"shown": [], "there": [], "elsewhere": 0}
    with _warnings() as warnings:
        for number in range(times):
            name = f"agent-{PublicScore.objects.count()}-{number}"
            public_score_record(project=project, actor=None, score=SCORE | {"agent": name})
            with CaptureQueriesContext(connections["replica"]) if _is_up() else _Nothing() as asked:
                table = client.get("/p/shop/benchmarks.csv").getvalue().decode()
            found["shown"].append(name in table)
            found["there"].append(sum("pg_last_wal" not in query["sql"] for query in asked))
        if _is_up():
            with CaptureQueriesContext(connections["replica"]) as asked:
                client.get("/api/v1/projects/shop/datasets/")
            found["elsewhere"] = len(asked)
    sys.stdout.write(json.dumps({**found, "warnings": warnings}))


def broken_off(_: int) -> None:
    """Ask for a report whose replica breaks off after it was found to have everything."""
    client, connection = _client(), connections["replica"]
    public_score_record(project=Project.objects.get(), actor=None, score=SCORE | {"agent": "broken"})

    def broken(*_: Any) -> None:
        raise OperationalError("server closed the connection unexpectedly")

    with _warnings() as warnings, connection.execute_wrapper(broken):
        replica._has_all = lambda: True
        page = client.get("/api/v1/projects/shop/benchmarks/")
    sys.stdout.write(
        json.dumps({"status": page.status_code, "shown": "broken" in page.content.decode(), "warnings": warnings})
    )


def writes_between(_: int) -> None:
    """Print where is read before a write, after it, in a transaction, and by the next report."""
    from django.db import transaction

    with replica.replica_reads():
        found = [PublicScore.objects.all().db]
        PublicScore.objects.filter(agent="none").update(agent="other")
        found.append(PublicScore.objects.all().db)
    with replica.replica_reads(), transaction.atomic():
        found.append(PublicScore.objects.all().db)
    with replica.replica_reads():
        found.append(PublicScore.objects.all().db)
    sys.stdout.write(json.dumps(found))


class _Nothing:
    """Stands for the queries of a replica that takes none."""

    def __enter__(self) -> list[Any]:
        return []

    def __exit__(self, *_: object) -> None:
        pass


def _is_up() -> bool:
    try:
        connections["replica"].ensure_connection()
    except OperationalError:
        return False
    return True


def _client() -> Client:
    client = Client(HTTP_HOST="localhost")
    client.force_login(User.objects.get(email="owner@example.test"))
    return client


@contextmanager
def _warnings() -> Iterator[list[str]]:
    said: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(record.getMessage())

    handler = Handler()
    replica.logger.addHandler(handler)
    try:
        yield said
    finally:
        replica.logger.removeHandler(handler)
