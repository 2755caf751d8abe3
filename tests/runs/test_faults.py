"""Whatever dies during a live run, the grades are those of an undisturbed one, row for row, and a trial is paid once.

The web server, a worker, Redis and PostgreSQL are real processes; the agent answers on loopback and never dies.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.agents.chat_server import ChatServer, chat_server
from tests.fixtures.application import LiveApp
from tests.runs.disturbed import ENVIRONMENT, Disturbed
from tests.runs.live import shop_agent
from tests.servers import PostgresServer, RedisServer
from toolevals.serving.application import end_group

pytestmark = pytest.mark.servers

EXAMPLES, TRIALS = 60, 2
ALL = EXAMPLES * TRIALS
PREPARE = f"""
from tests.runs.building import HISTORY, STATUS, example, version_of
from toolevals.workspace.projects.services import project_create
SENT = {{"results": [{{"tool": STATUS, "result": {{"state": "sent"}}}}]}}
said = [f"status of order {{n}}" if n % 3 else f"hello {{n}}" for n in range({EXAMPLES})]
rows = [example(f"ex-{{n:03}}", words, STATUS) for n, words in enumerate(said)]
for row in rows:
    row["input"]["simulation"] = SENT
version_of(project_create(actor=None, slug="shop", name="Shop"), rows)
"""
START = """
from types import SimpleNamespace
from labeling.models import DatasetVersion
from tests.runs.live import live_run
version = DatasetVersion.objects.get()
settings = {{"concurrency": 2, "prices": {{"input": 1, "output": 1}}}}
server = SimpleNamespace(url={url!r})
live_run(version.dataset.project, version, server, trials={trials}, settings=settings)
"""
COMPARE = """
import json
from django.db.models import Sum
from tests.runs.building import rows_of
from toolevals.runs.models import Grading, Transcript

def timeless(rows):
    for case in rows["cases"]:
        for part in (case[-1], *case[-1]["messages"]):
            part.pop("latency_ms", None)
    return rows

gradings = Grading.objects.filter(run__baseline_agent="").order_by("run__number")
first, last = (timeless(rows_of(grading)) for grading in (gradings.first(), gradings.last()))
runs = Transcript.objects.filter(run__baseline_agent="").order_by().values("run")
by_run = runs.annotate(sum=Sum("cost")).values_list("sum", flat=True)
paid_once = max(by_run) - min(by_run) < 1e-9
print(json.dumps([first == last, len(last["cases"]), paid_once]))
"""
# Of people's runs, without the baseline agents, which are run beside them.
ANSWERED = """
SELECT count(*) FROM runs_transcript JOIN runs_run ON runs_run.id = runs_transcript.run_id
WHERE runs_run.baseline_agent = ''
"""


class Scene(Disturbed):
    """An application, an agent that takes its time, and an undisturbed run to compare with."""

    def __init__(self, app: LiveApp, database: str, agent: ChatServer) -> None:
        super().__init__(app, database)
        self.agent = agent
        app.python(PREPARE)
        self.start()
        self.wait(self.finished)

    def start(self) -> None:
        """Start a run."""
        self.app.python(START.format(url=self.agent.url, trials=TRIALS))
        self.runs += 1

    def answered(self) -> int:
        """Return how many conversations of the newest run are kept."""
        return self.ask(ANSWERED) - ALL * (self.runs - 1)

    def start_and_wait_for_the_middle(self) -> None:
        """Start a run, and return when some conversations are kept and others are not."""
        self.start()
        self.wait(lambda: self.answered() > ALL // 10)
        assert self.answered() < ALL

    def check(self) -> None:
        """Wait for the newest run's end and compare everything that it and the undisturbed one wrote."""
        self.wait(self.finished)
        assert json.loads(self.app.python(COMPARE)) == [True, ALL, True]


@pytest.fixture(scope="module")
def scene(
    live_app_start: Callable[..., LiveApp], postgres_server: PostgresServer, redis_server: RedisServer
) -> Iterator[Scene]:
    """The whole installation, on PostgreSQL and Redis."""

    def slowly(body: dict[str, Any]) -> Any:
        time.sleep(0.01)
        return shop_agent(body)

    url = postgres_server.database_migrated(f"faults_{os.getpid()}")
    with chat_server(slowly) as agent:
        servers = {"DATABASE_URL": url, "REDIS_URL": redis_server.database_url()}
        app = live_app_start(loaded=False, **ENVIRONMENT, AGENT_NETWORKS="127.0.0.0/8", **servers)
        yield Scene(app, url, agent)


def test_a_worker_is_killed_among_conversations(scene: Scene) -> None:
    scene.start_and_wait_for_the_middle()
    end_group(scene.app.application.processes["worker"])
    scene.app.application.worker_start("worker")
    scene.check()


def test_the_web_server_is_killed(scene: Scene) -> None:
    scene.start_and_wait_for_the_middle()
    scene.app.application.web_kill()
    try:
        scene.wait(scene.finished)
    finally:
        scene.app.application.web_start()
    scene.check()


def test_redis_is_killed_and_comes_back_empty(scene: Scene, redis_server: RedisServer) -> None:
    scene.start_and_wait_for_the_middle()
    redis_server.kill()
    redis_server.start()
    scene.check()


def test_postgresql_is_restarted(scene: Scene, postgres_server: PostgresServer) -> None:
    scene.start_and_wait_for_the_middle()
    # It ends every session at once.
    postgres_server.stop()
    postgres_server.start()
    scene.check()
