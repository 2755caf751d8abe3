"""A worker killed among judgements, and judges in trouble: in the end an undisturbed run's grades, row for row.

The web server, the workers, Redis and PostgreSQL are real processes; the judge answers on loopback.
"""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.agents.chat_server import ChatServer, Trouble, chat_server
from tests.agents.judges import judging
from tests.fixtures.application import LiveApp
from tests.runs.disturbed import ENVIRONMENT, FINISHED, Disturbed
from tests.servers import PostgresServer, RedisServer
from toolevals.serving.application import end_group

pytestmark = pytest.mark.servers

EXAMPLES = 40
# How many of them a judge in trouble does not answer.
TROUBLED = 3
# Seconds until the application gives a judge up, and how often it asks one that does not answer.
TIMEOUT = 5
TRIES = 3
START = """
from types import SimpleNamespace
from tests.runs.building import REFUND, call, uploaded_run, version_of
from tests.runs.judged import judge_of, worded_example
from toolevals.workspace.projects.services import project_create
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
from toolevals.runs.grading.services import grading_start
grading_start(run=Run.objects.get(baseline_agent="", project__slug="shop-{number}"), actor=None)
"""
STOP = """
from toolevals.runs.models import Run
from toolevals.workspace.jobs.services import job_cancel, job_retry
{act}(job=Run.objects.get(baseline_agent="", project__slug="shop-{number}").job, actor=None)
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
    return list(JudgeCount.objects.filter(grading=grading).order_by("rubric").values_list(*names))

gradings = Grading.objects.filter(run__baseline_agent="").select_related("run").order_by("run__created_at", "number")
first, last = gradings.first(), gradings.last()
print(json.dumps([
    rows_of(first) == rows_of(last),
    judged(first) == judged(last),
    last.number > 1 or counted(first) == counted(last),
    [len(rows) for rows in judged(last)],
]))
"""
STATUS = "SELECT count(*) FROM runs_judgedcase WHERE status = '{status}'"
AT_WORK = "SELECT count(*) FROM workspace_batch WHERE state = 'leased'"

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

    def count(self, status: str) -> int:
        """Return how many verdicts of judges have a status, of all gradings."""
        return self.ask(STATUS.format(status=status))

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
    url = postgres_server.database_migrated(f"judged_{os.getpid()}")
    servers = {"DATABASE_URL": url, "REDIS_URL": redis_server.database_url()}
    app = live_app_start(loaded=False, **ENVIRONMENT, AGENT_NETWORKS="127.0.0.0/8", **servers)
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

    errored = scene.count("errored")
    scene.answer = troubled
    try:
        scene.start()
        scene.wait(scene.finished)
    finally:
        scene.answer = well
    check_errored_and_asked_again(scene, errored)


class Hanging:
    """A judge that takes questions about some examples and never answers, until it is released."""

    def __init__(self) -> None:
        self.released = threading.Event()
        self.asked: Counter[int] = Counter()

    def __call__(self, inputs: dict[str, Any]) -> Any:
        number = number_of(inputs)
        self.asked[number] += 1
        if number < TROUBLED:
            self.released.wait()
        return well(inputs)


@pytest.fixture
def hanging(scene: Scene) -> Iterator[Hanging]:
    """The judge hangs; in the end it is well."""
    scene.answer = found = Hanging()
    yield found
    scene.answer = well
    found.released.set()


def test_a_judge_that_hangs_is_given_up_and_errored_and_the_others_go_on(scene: Scene, hanging: Hanging) -> None:
    errored, failed = scene.count("errored"), scene.count("failed")
    scene.start()
    # The first is not given up yet when all others are answered.
    scene.wait(lambda: scene.judged() == EXAMPLES - TROUBLED)
    assert max(hanging.asked[number] for number in range(TROUBLED)) < TRIES
    scene.wait(scene.finished)
    assert [hanging.asked[number] for number in range(EXAMPLES)] == [TRIES] * TROUBLED + [1] * (EXAMPLES - TROUBLED)
    # What hangs is in neither verdict.
    assert scene.count("failed") - failed == sum(number % 2 == 0 for number in range(TROUBLED, EXAMPLES))
    scene.answer = well
    check_errored_and_asked_again(scene, errored)


def test_a_run_is_cancelled_while_its_judge_hangs_and_taken_up_again(scene: Scene, hanging: Hanging) -> None:
    errored = scene.count("errored")
    scene.start()
    scene.wait(lambda: scene.judged() == EXAMPLES - TROUBLED)
    scene.app.python(STOP.format(act="job_cancel", number=scene.runs))
    # The worker is free for others though the judge still has not answered.
    scene.wait(lambda: scene.ask(AT_WORK) == 0)
    assert not hanging.released.is_set()
    assert scene.judged() == EXAMPLES - TROUBLED
    scene.answer = well
    scene.judge.requests.clear()
    scene.app.python(STOP.format(act="job_retry", number=scene.runs))
    scene.wait(scene.finished)
    assert len(scene.judge.requests) == TROUBLED
    assert scene.count("errored") == errored
    scene.check()


def check_errored_and_asked_again(scene: Scene, errored: int) -> None:
    """See that what was in trouble is errored, is asked again by the next grading, and is then as if it never was."""
    assert scene.count("errored") - errored == TROUBLED
    scene.grade_again()
    assert scene.count("errored") - errored == TROUBLED
    scene.check()
