"""Measures the engine: 100,000 uploaded single-call predictions from upload to matrix, on PostgreSQL and Redis.

`THROUGHPUT_EXAMPLES` is another number of examples than 10,000, each with ten trials.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks._output import stdout_for_rows_alone
from benchmarks.row import Row
from scripts.dev.environment import ROOT
from tests.servers import PostgresServer, RedisServer
from toolevals.serving.application import Application, end_group

EXAMPLES, TRIALS = int(os.environ.get("THROUGHPUT_EXAMPLES", "10000")), 10
PREDICTIONS_A_SECOND = 4_000
TWO_WORKERS_OVER_ONE = 1.7
WORDS = {"whole": "upload to matrix", "grading": "grading alone"}
# Of the costs of a prediction in a run of all and one of a fifth: 1 is linear.
COST_GROWTH = 1.2
# Of a worker's memory from the first run to the last.
MEMORY_GROWTH = 1.15


def rows() -> Iterator[Row]:
    """Measure with two workers, each of one process, and then with one."""
    with _installation() as (application, workers):
        _do(application, "prepare", EXAMPLES)
        few = _do(application, "measure", TRIALS // 5)
        before = max(map(_resident, workers))
        found = _do(application, "measure", TRIALS)
        after = max(map(_resident, workers))
        end_group(application.processes.pop("worker-1"))
        alone = _do(application, "measure", TRIALS)
    rate = found["predictions"] / found["whole"]
    yield Row(
        f"{found['predictions']:,} predictions, upload to matrix", rate, "predictions/s", target=PREDICTIONS_A_SECOND
    )
    for name, seconds in zip(("reading", "grading", "counting"), found["stages"], strict=False):
        yield Row(f"of that, {name}", seconds, "s")
    yield Row("grading alone, two workers", found["predictions"] / found["grading"], "predictions/s")
    # Of workers, PostgreSQL and Redis, whatever else the machine does: what two cores would do if none ever waited.
    for name in ("whole", "grading"):
        bound = 2 * found["predictions"] / found["processor"][name]
        yield Row(f"two cores' processor time, {WORDS[name]}", bound, "predictions/s")
    gain = alone["grading"] / found["grading"]
    yield Row("grading alone, two workers over one", gain, "times", target=TWO_WORKERS_OVER_ONE)
    growth = (found["whole"] / found["predictions"]) / (few["whole"] / few["predictions"])
    yield Row("cost of a prediction, all over a fifth", growth, "times", target=COST_GROWTH, better="lower")
    yield Row("memory of a worker", after / 1e6, "MB", target=before * MEMORY_GROWTH / 1e6, better="lower")


@contextmanager
def _installation() -> Iterator[tuple[Application, list[int]]]:
    """Yield an application on servers of its own, with two workers of one process each; and the ids of those."""
    with (
        stdout_for_rows_alone(),
        PostgresServer() as postgres,
        RedisServer() as broker,
        tempfile.TemporaryDirectory(prefix="toolevals-bench-") as folder,
        Application(
            python=sys.executable,
            data=Path(folder),
            environment={"DATABASE_URL": postgres.database_create("bench"), "REDIS_URL": broker.database_url()},
        ) as application,
    ):
        application.prepare(sample=False)
        for number in range(2):
            application.start_process(f"worker-{number}", _worker(number))
        yield application, [application.processes[f"worker-{number}"].pid for number in range(2)]


def _worker(number: int) -> list[str]:
    words = ["-m", "celery", "--quiet", "-A", "toolevals.celery", "worker", "--concurrency", "1"]
    return [*words, "--hostname", f"bench-{number}@%h", "--loglevel", "WARNING", "--without-gossip", "--without-mingle"]


def _do(application: Application, step: str, number: int) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks._throughput", step, str(number)],
        cwd=ROOT,
        env=application.environment,
        check=True,
        stdout=subprocess.PIPE,
    )
    return json.loads(done.stdout)


def _resident(worker: int) -> int:
    """Return the bytes of memory that the process at work of a worker holds."""
    [child] = Path(f"/proc/{worker}/task/{worker}/children").read_text().split()[:1]
    pages = int(Path(f"/proc/{child}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
