"""Measures grading by several hosts: what 1, 2 and 4 processes do, what a kill each five seconds loses, what is stored.

A host is a worker process with a data folder of its own; PostgreSQL, Redis and an S3 server are all that hosts share.
`--size` is the number of cases of each run, over a dataset of a twentieth of that. On a machine whose cores others use,
read the processor time.
"""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks._measuring import (
    answer,
    do_step,
    example,
    imported,
    installation,
    prediction,
    prepared,
    processor_seconds,
    size,
    step,
    step_started,
    work,
)
from benchmarks.row import Row
from tests.servers import RedisServer
from tests.servers.s3 import S3Server
from toolevals.serving.application import Application, end_group

CASES, TRIALS = 40_000, 20
# Datasets: for the runs without kills, and for the one with.
ALL, FEW = "all", "few"
HOSTS, KILLED_HOSTS, KILL_SECONDS = (1, 2, 4), 3, 5.0
KILLED_RUNS, KILLED_CASES = 12, 2_000
READY_SECONDS = 120
# Tables that hold less of a case are one line.
LEAST_BYTES = 5.0
_SIZES = """
SELECT relname, pg_table_size(oid), pg_indexes_size(oid) FROM pg_class
WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
"""


def rows() -> Iterator[Row]:
    """Measure on PostgreSQL."""
    cases = size(CASES)
    with installation("PostgreSQL") as own, RedisServer() as broker, S3Server() as storage:
        shared = {"TOOLEVALS_S3_BUCKET": storage.bucket_create(), "TOOLEVALS_SECRET_KEY": "bench" * 10}
        environment = own | storage.environment | shared | {"REDIS_URL": broker.url, "BATCH_LEASE_SECONDS": "5"}
        step("scaling", environment, "prepare", str(cases))
        before = step("scaling", environment, "stored")
        for count in HOSTS:
            with hosts(environment, count, broker) as found:
                began = processor_seconds(os.getpid())
                done = step("scaling", environment, "grade", ALL, str(cases), "1")
                spent = processor_seconds(os.getpid()) - began
                # No host needs what another has on its disk.
                shared_files = [path for host in found for path in (host.data / "uploads").rglob("*") if path.is_file()]
            title = f"{count} hosts" if count > 1 else "1 host"
            yield Row(f"{title}: cases graded and counted", cases / done["seconds"], "cases/s")
            yield Row(f"{title}: a case, processor time of all", 1e6 * spent / cases, "µs", better="lower")
            yield Row(f"{title}: files on their disks", len(shared_files), "files", target=0, better="lower")
            yield from _exact(title, done, cases)
        yield from _stored(before, step("scaling", environment, "stored"), cases * len(HOSTS))
        yield from _killed(environment, broker)


def _killed(environment: dict[str, str], broker: RedisServer) -> Iterator[Row]:
    """Kill the hosts in turns while they grade runs, none of which takes longer to read than a host lives."""
    kills, cases = 0, KILLED_RUNS * KILLED_CASES
    with hosts(environment, KILLED_HOSTS, broker) as found:
        grading = step_started("scaling", environment, "grade", FEW, str(KILLED_CASES), str(KILLED_RUNS))
        while not _ended(grading, KILL_SECONDS):
            host = found[kills % KILLED_HOSTS]
            end_group(host.processes.pop("worker"))
            host.worker_start()
            kills += 1
        done = answer(grading)
    title = f"{KILLED_HOSTS} hosts, one killed each {KILL_SECONDS:g} seconds"
    yield Row(f"{title}: kills", kills, "kills")
    yield Row(f"{title}: cases graded and counted", cases / done["seconds"], "cases/s")
    yield from _exact(title, done, cases)


def _exact(title: str, done: dict[str, Any], cases: int) -> Iterator[Row]:
    for what in ("graded", "counted"):
        yield Row(
            f"{title}: cases {what} more or less than once", abs(done[what] - cases), "cases", target=0, better="lower"
        )


def _stored(before: dict[str, Any], after: dict[str, Any], cases: int) -> Iterator[Row]:
    """Say what a case leaves in each table, in its indexes, and in the log that replicas and backups read."""
    rest = 0.0
    for name, found in sorted(after["tables"].items()):
        table, indexes = (
            (now - was) / cases for now, was in zip(found, before["tables"].get(name, (0, 0)), strict=True)
        )
        if table + indexes < LEAST_BYTES:
            rest += table + indexes
            continue
        yield Row(f"stored of a case: {name}", table, "bytes", better="lower")
        yield Row(f"stored of a case: {name}, indexes", indexes, "bytes", better="lower")
    yield Row("stored of a case: all other tables", rest, "bytes", better="lower")
    yield Row("written ahead of a case", (after["log"] - before["log"]) / cases, "bytes", better="lower")


def _ended(process: Any, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.1)
    return process.poll() is not None


@contextmanager
def hosts(environment: dict[str, str], count: int, broker: RedisServer) -> Iterator[list[Application]]:
    """Yield hosts that wait for work."""
    import redis

    with ExitStack() as stack:
        found = []
        for _ in range(count):
            data = Path(stack.enter_context(TemporaryDirectory(prefix="toolevals-host-", ignore_cleanup_errors=True)))
            here = {name: value for name, value in environment.items() if name != "TOOLEVALS_DATA_DIR"}
            host = stack.enter_context(Application(python=sys.executable, data=data, environment=here))
            host.worker_start()
            found.append(host)
        deadline = time.monotonic() + READY_SECONDS
        with redis.Redis(port=broker.port) as client:
            while int(client.info("clients")["blocked_clients"]) < count:
                if time.monotonic() > deadline:
                    raise RuntimeError("the hosts do not wait for work")
                time.sleep(0.2)
        yield found


def grade(slug: str, cases: int, runs: int) -> dict[str, Any]:
    """Have runs graded by whoever works, and return what came of them together."""
    from labeling.models import DatasetVersion
    from reports.filters.case_filters import Filters
    from reports.filters.matrix_cells import matrix_counts
    from reports.matrix.analysis import matrix_of
    from toolevals.runs.models import CaseGrade

    version = DatasetVersion.objects.get(dataset__slug=slug)
    content = b"".join(
        prediction(number, trial, f"tool_{(number + (number % 5 == trial)) % 10}")
        for number in range(cases // TRIALS)
        for trial in range(TRIALS)
    )
    began = time.monotonic()
    asked = [_run(version, content) for _ in range(runs)]
    found = {"graded": 0, "counted": 0}
    for run in asked:
        while run.job.state in ("pending", "running"):
            time.sleep(0.2)
            run.job.refresh_from_db()
        if run.job.state != "succeeded":
            raise RuntimeError(f"{run.job.state}: {[batch.error for batch in run.job.failures()]}")
    seconds = time.monotonic() - began
    for run in asked:
        run.refresh_from_db()
        found["graded"] += CaseGrade.objects.filter(grading=run.grading).count()
        found["counted"] += sum(cell.count for cell in matrix_of(matrix_counts(run.grading, Filters())).cells)
    return {"seconds": seconds, **found}


def _run(version: Any, content: bytes) -> Any:
    from toolevals.runs.runs.requesting import RunRequest, run_request_upload

    return run_request_upload(
        project=version.dataset.project,
        actor=None,
        request=RunRequest(experiment="bench", dataset_version=version, trials=TRIALS, name=f"run {time.time_ns()}"),
        file=io.BytesIO(content),
        file_name="predictions.jsonl",
    )


def stored() -> dict[str, Any]:
    """Return the bytes of each table and its indexes, and those of the log so far."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
        cursor.execute(_SIZES)
        tables = {name: sizes for name, *sizes in cursor.fetchall()}
        cursor.execute("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint")
        [[log]] = cursor.fetchall()
    return {"tables": tables, "log": log}


def prepare(cases: int) -> None:
    """Make the tables, and a frozen version of each dataset."""
    project, tools, _ = prepared()
    from labeling.versions.services import version_freeze

    for slug, count in ((ALL, cases), (FEW, KILLED_CASES)):
        content = b"".join(example(number, f"tool_{number % 10}") for number in range(count // TRIALS))
        version_freeze(dataset=imported(project, tools, slug, content), actor=None)
    work()


if __name__ == "__main__":
    do_step(
        prepare, lambda name, *words: grade(words[0], int(words[1]), int(words[2])) if name == "grade" else stored()
    )
