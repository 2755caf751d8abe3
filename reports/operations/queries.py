"""Read how the work of the installation goes. Counts come from the figures of `/metrics`; here are their rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.core.cache import cache
from django.db import DatabaseError, connection, models, transaction
from django.db.models import Count, Q, Sum

from labeling.models import Example, Label
from reports.monitoring.queries import Figure, is_lost
from toolevals.runs.models import CaseGrade, Run, Transcript
from toolevals.traces.models import Trace
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.idle_check import signed_at
from toolevals.workspace.jobs.models import JobQuerySet
from toolevals.workspace.models import (
    DESTROY,
    AuditEntry,
    Batch,
    BatchState,
    Job,
    JobState,
    Project,
    Upload,
    Worker,
)
from toolevals.workspace.monitoring.readiness import SILENT_AFTER

# Counting every row takes time: what was counted is shown for so long.
STORAGE_KEPT_SECONDS: Final = 600
MOST_QUERIES: Final = 20
MOST_CHARACTERS: Final = 300
_KINDS: Final[Mapping[str, tuple[type[models.Model], str]]] = {
    "examples": (Example, "dataset__project"),
    "labels": (Label, "revision__example__dataset__project"),
    "runs": (Run, "project"),
    "transcripts": (Transcript, "run__project"),
    "grades of cases": (CaseGrade, "grading__run__project"),
    "traces": (Trace, "project"),
    "acts": (AuditEntry, "project"),
    "jobs": (Job, "project"),
    "batches": (Batch, "job__project"),
    "files": (Upload, "project"),
}
# Numbers and texts of a statement; a text that is cut off has no end.
_VALUES: Final = re.compile(r"'(?:[^'\\]|''|\\.)*(?:'|\Z)|\b\d[\d.]*\b")


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A worker, and whether it is silent."""

    host: str
    process: int
    queues: str
    started_at: datetime
    seen_at: datetime
    is_silent: bool


@dataclass(frozen=True, slots=True)
class StorageRow:
    """Rows of one kind in a project. Of what is in no project any more, `project` is empty."""

    project: str
    project_id: UUID | None
    kind: str
    rows: int
    bytes: int | None


@dataclass(frozen=True, slots=True)
class Storage:
    """The rows and bytes of all projects, and when they were counted."""

    rows: Sequence[StorageRow]
    database_bytes: int
    file_bytes: int
    counted_at: datetime

    @property
    def tells_bytes(self) -> bool:
        """Return whether the bytes of tables are known."""
        return any(row.bytes is not None for row in self.rows if row.kind != "files")


@dataclass(frozen=True, slots=True)
class Queries:
    """Statements that take long, and in a sentence where that is known from."""

    rows: Sequence[dict[str, Any]]
    source: str


def workers() -> list[WorkerRow]:
    """Return the workers that were seen within a day. At rest, the one worker of SQLite touches a file instead."""
    now, at_rest = database_now(), signed_at()
    rows = list(Worker.objects.all())
    alone = at_rest if len(rows) == 1 else None
    return [
        WorkerRow(each.host, each.process, each.queues, each.started_at, seen, now - seen >= SILENT_AFTER)
        for each in rows
        for seen in [max(each.seen_at, alone or each.seen_at)]
    ]


def queues(figures: Sequence[Figure]) -> list[dict[str, Any]]:
    """Return the queues, as the figures say them."""
    known = {each.name: each.rows for each in figures}
    oldest = known.get("queue_oldest_seconds", {})
    return [
        {"queue": name, "waiting": int(waiting), "oldest_seconds": oldest[(name,)]}
        for (name,), waiting in known.get("queue_batches", {}).items()
    ]


def lost_leases() -> models.QuerySet[Batch]:
    """Return the batches that a figure counts as lost."""
    lost = Batch.objects.filter(is_lost(database_now()), state=BatchState.LEASED)
    return lost.select_related("job__project").order_by("due_at")


def failed_jobs() -> JobQuerySet:
    """Return the jobs with failed batches, of all projects."""
    return _jobs().filter(state=JobState.FAILED)


def running_jobs() -> JobQuerySet:
    """Return the jobs that are at work or paused, of all projects."""
    return _jobs().open()


def retriable(pk: UUID) -> Job | None:
    """Return a job that an operator may retry."""
    return _jobs().filter(pk=pk).first()


def _jobs() -> JobQuerySet:
    shown = Job.objects.filter(Q(trashed_with=None) | Q(kind=DESTROY)).select_related("project")
    failed = Count("batches", filter=Q(batches__state=BatchState.FAILED))
    return shown.annotate(all_batches=Count("batches"), failed_batches=failed)


def storage() -> Storage:
    """Return what each project stores, counted now or minutes ago."""
    found = cache.get_or_set("operations-storage", _storage, STORAGE_KEPT_SECONDS)
    assert isinstance(found, Storage)
    return found


def _storage() -> Storage:
    slugs = dict(Project.with_trash.values_list("pk", "slug"))
    rows: list[StorageRow] = []
    for kind, (model, path) in _KINDS.items():
        counts = dict(model._base_manager.order_by().values_list(path).annotate(count=Count("pk")))
        exact = dict(Upload.objects.order_by().values_list(path).annotate(Sum("size"))) if model is Upload else None
        table, total = _table_bytes(model), sum(counts.values())
        for project, count in counts.items():
            shared = None if table is None else table * count // total
            size = shared if exact is None else exact[project]
            rows.append(StorageRow(slugs.get(project, ""), project, kind, count, size))
    files = Upload.objects.aggregate(sum=Sum("size"))["sum"] or 0
    rows.sort(key=lambda each: (each.project, -(each.bytes or 0), -each.rows))
    return Storage(rows, _database_bytes(), files, database_now())


def _table_bytes(model: type[models.Model]) -> int | None:
    """Return what a table takes with its indexes; None on SQLite, which would read the whole file to tell."""
    if connection.vendor != "postgresql":
        return None
    return int(_asked("SELECT pg_total_relation_size(%s::regclass)", model._meta.db_table))


def _database_bytes() -> int:
    if connection.vendor == "postgresql":
        return int(_asked("SELECT pg_database_size(current_database())"))
    return int(_asked("PRAGMA page_count")) * int(_asked("PRAGMA page_size"))


def _asked(statement: str, *values: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        [[found]] = cursor.fetchall()
        return found


def slow_queries() -> Queries:
    """Return the statements that take the most time, where the database tells."""
    if connection.vendor != "postgresql":
        return Queries([], "SQLite keeps no times of queries.")
    try:
        with transaction.atomic():
            found = _statements(
                "SELECT query, calls, total_exec_time / 1000, mean_exec_time / 1000 FROM pg_stat_statements "
                "WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) "
                "ORDER BY total_exec_time DESC LIMIT %s"
            )
        return Queries(found, "By all their time since the statistics of pg_stat_statements were reset.")
    except DatabaseError:
        found = _statements(
            "SELECT query, NULL, extract(epoch FROM clock_timestamp() - query_start), NULL FROM pg_stat_activity "
            "WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid() "
            "AND clock_timestamp() - query_start > interval '1 second' ORDER BY query_start LIMIT %s"
        )
        return Queries(found, "Those that run now for longer than a second: pg_stat_statements is not installed.")


def _statements(statement: str) -> list[dict[str, Any]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, [MOST_QUERIES])
        return [
            {"query": without_values(query), "calls": calls, "seconds": float(seconds), "mean_seconds": mean}
            for query, calls, seconds, mean in cursor.fetchall()
        ]


def without_values(statement: str) -> str:
    """Return a statement on one line with a mark for each value: what people wrote stands in some."""
    return " ".join(_VALUES.sub("?", statement).split())[:MOST_CHARACTERS]
