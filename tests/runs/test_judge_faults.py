"""A worker killed among judgements, and judges in trouble: in the end an undisturbed run's grades, row for row.

The web server, the workers, Redis and PostgreSQL are real processes; the judge answers on loopback.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from scripts.dev.application import end_group
from tests.agents.chat_server import ChatServer, Trouble, chat_server
from tests.agents.judges import judging
from tests.fixtures.application import LiveApp
from tests.runs.disturbed import ENVIRONMENT, FINISHED, Disturbed
from tests.servers import PostgresServer, RedisServer

pytestmark = pytest.mark.servers

EXAMPLES = 40
# How many of them a judge in trouble does not answer.
TROUBLED = 3
# Seconds until the application gives a judge up.
TIMEOUT = 5
START = """
from types import SimpleNamespace
from tests.runs.building import REFUND, call, uploaded_run, version_of
from tests.runs.judged import judge_of, worded_example
from toolevals.workspace.services import project_create
project = project_create(actor=None, slug="shop-{number}", name="Shop {number}")
names = [f"ex-{{n:03}}" for n in range({examples})]
judge_of(
    project,
    SimpleNamespace(url={url!r}),
    "natural_language",
    timeout={timeout},
    prices={{"input": 1, "output": 1}},
)
predictions = [call(name, REFUND, reason=f"Sorry, {{name}}") for name in names]
uploaded_run(project, version_of(project, map(worded_example, names)), predictions)
"""
AGAIN = """
from toolevals.runs.models import Run
from toolevals.runs.services import grading_start
grading_start(run=Run.objects.get(floor="", project__slug="shop-{number}"), actor=None)
"""
# The first project's grading was not disturbed; the other is the newest of the last project.
COMPARE = """
import json
from tests.runs.building import rows_of
from toolevals.runs.models import Grading, JudgeCount, JudgedCase, Judgement

def judged(grading):
    place = "case__transcript__entry__position"
    cases = JudgedCase.objects.filter(grading=grading).order_by(place, "rubric")
    asked = Judgement.objects.filter(rubric__project=grading.run.project).order_by("inputs")
    return [
        list(cases.values_list(place, "rubric", "status", "value")),
        list(asked.values_list("inputs", "model", "value", "reason", "answer", "error", "cost", "input_tokens")),
    ]

def counted(grading):
    names = ("passed", "failed", "unscored", "errored", "mean", "asked", "cost")
    return list(JudgeCount.objects.filter(grading=grading).values_list(*names))

gradings = Grading.objects.filter(run__floor="").select_related("run").order_by("run__created_at", "number")
first, last = gradings.first(), gradings.last()
print(json.dumps([
    rows_of(first) == rows_of(last),
    judged(first) == judged(last),
    last.number > 1 or counted(first) == counted(last),
    [len(rows) for rows in judged(last)],
]))
"""
ERRORED = """
SELECT count(*) FROM runs_judgedcase JOIN runs_grading ON runs_grading.id = runs_judgedcase.grading_id
JOIN runs_run ON runs_run.id = runs_grading.run_id WHERE runs_judgedcase.status = 'errored'
"""

Answer = Callable[[dict[str, Any]], Any]


def number_of(inputs: dict[str, Any]) -> int:
    """Return which example a judge is asked about."""
    return int(json.dumps(inputs).rpartition("Sorry, ex-")[2][:3])


def well(inputs: dict[str, Any]) -> dict[str, Any]:
    """Answer as a judge in good health."""
    return {"score": number_of(inputs) % 2}


class Scene(Disturbed):
    """An application, a judge whose health changes, and a run that nothing disturbed."""

    def __init__(self, app: LiveApp, database: str) -> None:
        super().__init__(app, database)
        self.answer: Answer = well
        self.regraded = 0
        self.judge: ChatServer

    def told(self, inputs: dict[str, Any]) -> Any:
        """Answer as the judge does now."""
        return self.answer(inputs)

    def start(self) -> None:
        """Start a run in a project of its own, in which nothing was asked before."""
        self.runs += 1
        code = START.format(number=self.runs, examples=EXAMPLES, url=self.judge.url, timeout=TIMEOUT)
        self.app.python(code)

    def grade_again(self) -> None:
        """Have the newest run graded again, and wait for the end of it."""
        self.app.python(AGAIN.format(number=self.runs))
        self.regraded += 1
        self.wait(lambda: self.ask(FINISHED.format(kind="grading")) == self.regraded)

    def judged(self) -> int:
        """Return how many of the newest run's judgements are kept."""
        return self.ask("SELECT count(*) FROM runs_judgement") - EXAMPLES * (self.runs - 1)

    def check(self) -> None:
        """Compare everything that the newest grading and the undisturbed one wrote."""
        assert json.loads(self.app.python(COMPARE)) == [True, True, True, [EXAMPLES, EXAMPLES]]


@pytest.fixture(scope="module")
def scene(
    live_app_start: Callable[..., LiveApp], postgres_server: PostgresServer, redis_server: RedisServer
) -> Iterator[Scene]:
    """The whole installation, on PostgreSQL and Redis."""
    url = postgres_server.database_create(f"judged_{os.getpid()}")
    app = live_app_start(
        **ENVIRONMENT, AGENT_NETWORKS="127.0.0.0/8", DATABASE_URL=url, REDIS_URL=redis_server.database_url()
    )
    made = Scene(app, url)
    with chat_server(judging(made.told)) as made.judge:
        made.start()
        made.wait(made.finished)
        yield made


def test_a_worker_is_killed_among_judgements(scene: Scene) -> None:
    killed = threading.Event()

    def slow_for_some(inputs: dict[str, Any]) -> dict[str, Any]:
        if number_of(inputs) >= EXAMPLES // 2:
            killed.wait(TIMEOUT - 1)
        return well(inputs)

    scene.answer = slow_for_some
    try:
        scene.start()
        scene.wait(lambda: scene.judged() >= EXAMPLES // 4)
        kept = scene.judged()
        end_group(scene.app.application.processes["worker"])
    finally:
        scene.answer = well
        killed.set()
    assert kept < EXAMPLES
    scene.app.application.worker_start("worker")
    scene.wait(scene.finished)
    scene.check()


@pytest.mark.parametrize("trouble", ["garbage", "500"])
def test_a_judge_in_trouble_costs_its_column_until_it_is_asked_again(scene: Scene, trouble: str) -> None:
    def troubled(inputs: dict[str, Any]) -> Any:
        if number_of(inputs) >= TROUBLED:
            return well(inputs)
        return "{{ no JSON" if trouble == "garbage" else Trouble(500, "{}")

    errored = scene.ask(ERRORED)
    scene.answer = troubled
    try:
        scene.start()
        scene.wait(scene.finished)
    finally:
        scene.answer = well
    assert scene.ask(ERRORED) - errored == TROUBLED
    scene.grade_again()
    assert scene.ask(ERRORED) - errored == TROUBLED
    scene.check()
