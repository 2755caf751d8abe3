"""Write the tables of the operators' page: workers, queues, lost leases, jobs, storage, slow queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from reports.monitoring.views import kept_figures
from reports.operations import queries
from toolevals.presentation.table import Column, Table
from toolevals.workspace.paging import rows_of

WORKERS: Final = Table(
    "WorkerRow",
    "One worker that was seen within a day.",
    (
        Column("host"),
        Column("process", int),
        Column("queues", str, words="By their names, separated by commas."),
        Column("started_at", datetime),
        Column("seen_at", datetime),
        Column("is_silent", bool, words="Not seen for a minute."),
    ),
)
QUEUES: Final = Table(
    "QueueRow",
    "One queue: the batches that wait for a worker, and how long the oldest of them has waited.",
    (Column("queue"), Column("waiting", int), Column("oldest_seconds", float)),
)
LEASES: Final = Table(
    "LostLease",
    "One batch whose worker gave no sign of life in time, and that no other has taken yet.",
    (
        Column("batch_id", UUID, "pk"),
        Column("job_id", UUID),
        Column("project", str, "job.project.slug"),
        Column("kind", str, "job.kind"),
        Column("queue"),
        Column("attempts", int),
        Column("due_at", datetime, words="When the lease ended."),
    ),
)
JOBS: Final = Table(
    "OperationsJob",
    "One job of any project, without its title and its errors.",
    (
        Column("job_id", UUID, "pk"),
        Column("project", str, "project.slug"),
        Column("kind"),
        Column("state"),
        Column("batches", int, "all_batches"),
        Column("failed_batches", int),
        Column("created_at", datetime),
        Column("finished_at", datetime, optional=True),
    ),
)
STORAGE: Final = Table(
    "StorageRow",
    "One kind of row of one project. A table's bytes are shared out by its rows; those of files are exact.",
    (Column("project"), Column("kind"), Column("rows", int), Column("bytes", int, optional=True)),
)
QUERIES: Final = Table(
    "SlowQuery",
    "One statement, without its values: `calls` of it, or one that runs now.",
    (
        Column("query"),
        Column("calls", int, optional=True),
        Column("seconds", float, words="In all its calls, or so far."),
        Column("mean_seconds", float, optional=True),
    ),
)
# With what reads the rows, by the name in an answer, which is the last word of the file's address.
TABLES: Final[dict[str, tuple[Table, Callable[[], Iterable[Any]]]]] = {
    "workers": (WORKERS, queries.workers),
    "queues": (QUEUES, lambda: queries.queues(kept_figures())),
    "leases": (LEASES, queries.lost_leases),
    "failed": (JOBS, lambda: rows_of(queries.failed_jobs())),
    "running": (JOBS, lambda: rows_of(queries.running_jobs())),
    "storage": (STORAGE, lambda: queries.storage().rows),
    "queries": (QUERIES, lambda: queries.slow_queries().rows),
}
