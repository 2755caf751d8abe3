"""Real workers and brokers, killed in the middle of a run: the grades are those of an undisturbed one, row for row."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable

import pytest

from tests.fixtures.application import LiveApp
from tests.runs.disturbed import ENVIRONMENT, Disturbed
from tests.servers import PostgresServer, RedisServer
from toolevals.celery import NICENESS
from toolevals.serving.application import end_group

pytestmark = pytest.mark.servers

# As many batches as a run twice as large: 8 to produce and 8 to grade (toolevals/runs/runs/slices.py).
EXAMPLES = 1000
TRIALS = 4

PREPARE = f"""
from tests.runs.building import STATUS, HISTORY, example, version_of
from toolevals.workspace.projects.services import project_create
tools = (STATUS, HISTORY)
rows = [example(f"ex-{{n:04}}", f"shipping status of order ORD-{{n}}", tools[n % 2]) for n in range({EXAMPLES})]
version_of(project_create(actor=None, slug="shop", name="Shop"), rows)
"""
START = f"""
from labeling.models import DatasetVersion
from tests.runs.building import baseline_run
version = DatasetVersion.objects.get()
print(baseline_run(version.dataset.project, version, trials={TRIALS}).number)
"""
COMPARE = """
import json
from tests.runs.building import rows_of
from toolevals.runs.models import Grading
gradings = Grading.objects.filter(run__baseline_agent="").order_by("run__number")
first, last = (rows_of(grading) for grading in (gradings.first(), gradings.last()))
print(json.dumps([first == last, len(last["cases"])]))
"""
# Of people's runs, without the baseline agents, which are run beside them.
GRADED = """
SELECT count(*) FROM runs_casegrade JOIN runs_grading ON runs_grading.id = runs_casegrade.grading_id
JOIN runs_run ON runs_run.id = runs_grading.run_id WHERE runs_run.baseline_agent = ''
"""


class Installation(Disturbed):
    """An application with a dataset, and an undisturbed run to compare with."""

    def __init__(self, app: LiveApp, database: str = "") -> None:
        super().__init__(app, database)
        app.python(PREPARE)
        self.start()
        self.wait(self.finished)

    def start(self) -> None:
        """Start a run."""
        self.app.python(START)
        self.runs += 1

    def graded(self) -> int:
        """Return how many cases of the newest run are graded."""
        return self.ask(GRADED) - EXAMPLES * TRIALS * (self.runs - 1)

    def start_and_wait_for_the_middle(self) -> None:
        """Start a run, return when some of its cases are graded, and check that others are not."""
        self.start()
        self.wait(lambda: self.graded() > 0)
        assert self.graded() < EXAMPLES * TRIALS

    def check(self) -> None:
        """Wait for the newest run's end and compare everything that it and the undisturbed one wrote."""
        self.wait(self.finished)
        equal, cases = json.loads(self.app.python(COMPARE))
        assert cases == EXAMPLES * TRIALS
        assert equal


@pytest.fixture(scope="module")
def embedded(live_app_start: Callable[..., LiveApp]) -> Installation:
    """SQLite and the in-memory broker."""
    return Installation(live_app_start(loaded=False, **ENVIRONMENT))


@pytest.fixture(scope="module")
def served(
    live_app_start: Callable[..., LiveApp], postgres_server: PostgresServer, redis_server: RedisServer
) -> Installation:
    """PostgreSQL and Redis."""
    url = postgres_server.database_migrated(f"killed_{os.getpid()}")
    servers = {"DATABASE_URL": url, "REDIS_URL": redis_server.database_url()}
    return Installation(live_app_start(loaded=False, **ENVIRONMENT, **servers), url)


@pytest.mark.parametrize("pair", ["embedded", "served"])
def test_a_worker_is_killed_with_its_children(pair, request):
    installation = request.getfixturevalue(pair)
    installation.start_and_wait_for_the_middle()

    end_group(installation.app.application.processes["worker"])

    installation.app.application.worker_start("worker")
    installation.check()


def test_only_the_children_at_work_are_killed(served: Installation):
    # The embedded worker has none: it works in its one process.
    served.start_and_wait_for_the_middle()

    for child in children_of(served.app.application.processes["worker"].pid):
        os.kill(child, signal.SIGKILL)

    served.check()


def test_workers_let_others_go_first(served: Installation):
    worker = served.app.application.processes["worker"].pid
    served.start_and_wait_for_the_middle()

    expected = min(19, os.getpriority(os.PRIO_PROCESS, 0) + NICENESS)
    assert {os.getpriority(os.PRIO_PROCESS, each) for each in [worker, *children_of(worker)]} == {expected}
    served.check()


def test_redis_is_killed_and_comes_back_empty(served: Installation, redis_server: RedisServer):
    served.start_and_wait_for_the_middle()

    redis_server.kill()
    try:
        at_the_kill = served.graded()
    finally:
        redis_server.start()

    served.check()
    assert at_the_kill < EXAMPLES * TRIALS


def children_of(process: int) -> list[int]:
    """Return the processes that a process has started."""
    found = subprocess.run(["pgrep", "-P", str(process)], check=True, stdout=subprocess.PIPE, text=True)
    return [int(child) for child in found.stdout.split()]
