"""Gradings whose simulator is away: they wait and say so; what was errored all the same is asked for again alone."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.agents.world_server import world_server
from tests.runs.building import cases_of, uploaded_run, version_of
from toolevals.agents.http_simulator import HttpSimulator
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.models import CaseGrade, VerdictCount
from toolevals.runs.runs.repeating import errored_ask_again
from toolevals.runs.simulators.services import simulator_choose, simulator_ensure
from toolevals.workspace.models import Job, JobState

pytestmark = pytest.mark.django_db(transaction=True)
SCHEMA = {"type": "object", "properties": {"order_id": {"type": "string"}}}
TOOLS = [{"name": "cancel", "description": "Cancels an order.", "input_schema": SCHEMA}]
NAMES = ("first", "second", "third")


def rows() -> list[dict[str, Any]]:
    return [
        {
            "id": name,
            "input": {
                "messages": [{"role": "user", "content": f"Cancel {name}"}],
                "simulation": {"state": state(name)},
            },
            "tools": TOOLS,
            "expected_tool": "cancel",
            "expected_args": {"order_id": name},
        }
        for name in NAMES
    ]


def state(name: str) -> dict[str, Any]:
    return {"orders": {name: "paid"}}


def predictions() -> list[dict[str, Any]]:
    return [{"id": name, "tool_calls": [{"name": "cancel", "arguments": {"order_id": name}}]} for name in NAMES]


def run_with(project: Any, url: str) -> Any:
    version = version_of(project, rows())
    simulator = simulator_ensure(project=project, actor=None, name="Shop", kind="http", content={"base_url": url})
    simulator_choose(dataset=version.dataset, actor=None, simulator=simulator)
    return uploaded_run(project, version, predictions())


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch, settings: Any) -> list[Any]:
    """Return the list of functions that pauses call in place of sleeping, each the next one."""
    settings.AGENT_NETWORKS = ["127.0.0.0/8"]
    todo: list[Any] = []
    sleep = lambda _: todo.pop(0)() if todo else None  # noqa: E731
    monkeypatch.setattr("toolevals.runs.simulators.opening.HttpSimulator", partial(HttpSimulator, sleep=sleep))
    return todo


def test_a_grading_waits_for_its_simulator_and_says_so_meanwhile(project, run_jobs, slept, client, viewer):
    away = True
    client.force_login(viewer)
    shown: list[str] = []

    def look() -> None:
        job = Job.objects.with_progress().get()
        shown.append(job.waiting)
        shown.append(client.get(f"/p/{project.slug}/jobs/{job.pk}/", headers={"HX-Request": "true"}).content.decode())

    def come() -> None:
        nonlocal away
        away = False

    with world_server(lambda _path, _body: (503, b"starting") if away else None) as server:
        slept += [lambda: None, look, come]
        run = run_with(project, server.url)
        run_jobs()
    run.refresh_from_db()
    assert {case.outcome for case in cases_of(run.grading).values()} == {"passed"}
    sentence, page = shown
    assert sentence.startswith(f"Waiting for the simulator: {server.url}/reset answered 503: starting")
    assert sentence[:60] in page
    assert Job.objects.with_progress().get().waiting == ""


@pytest.fixture
def half_errored(project, run_jobs, slept):
    """A run with one errored case of three, and the service that has come back."""
    broken = {"second"}

    def breaks(path: str, body: dict[str, Any]) -> tuple[int, bytes] | None:
        return (500, b"out of order") if path == "/sim/reset" and broken & set(body["state"]["orders"]) else None

    with world_server(breaks) as server:
        run = run_with(project, server.url)
        run_jobs()
        run.refresh_from_db()
        broken.clear()
        server.worlds.clear()
        yield run, server


def test_only_what_is_errored_is_graded_again(project, run_jobs, half_errored):
    run, server = half_errored
    first = run.grading
    before = {name: case.outcome for (name, _), case in cases_of(first).items()}
    assert before == {"first": "passed", "second": "errored", "third": "passed"}
    grading = errored_ask_again(run=run, actor=None)
    run_jobs()
    run.refresh_from_db()
    assert (run.grading, Job.objects.get(gradings=grading).title) == (grading, "Run 1: 1 errored case again")
    assert {name: case.outcome for (name, _), case in cases_of(grading).items()} == dict.fromkeys(NAMES, "passed")
    assert {tuple(world["orders"]) for world in server.worlds.values()} == {("second",)}
    # What is kept is the same to the word, and the first grading has what it had.
    kept = cases_of(grading)["first", 0]
    assert (kept.detail, kept.pairs.count()) == (cases_of(first)["first", 0].detail, 1)
    assert {name: case.outcome for (name, _), case in cases_of(first).items()} == before
    counts = VerdictCount.objects.filter(grading=grading, column="outcome").values_list("value", "count")
    assert dict(counts) == {"passed": 3}
    with pytest.raises(InvalidDocument, match="The run has no errored case"):
        errored_ask_again(run=run, actor=None)


def test_nothing_is_kept_where_the_simulator_is_another(project, run_jobs, half_errored):
    run, server = half_errored
    other = simulator_ensure(
        project=project, actor=None, name="Shop", kind="http", content={"base_url": server.url, "timeout": 9}
    )
    simulator_choose(dataset=run.dataset_version.dataset, actor=None, simulator=other)
    errored_ask_again(run=run, actor=None)
    run_jobs()
    assert {tuple(world["orders"]) for world in server.worlds.values()} == {(name,) for name in NAMES}


def test_the_page_says_first_what_is_errored_and_offers_to_ask_again(
    project, run_jobs, client, adjudicator, viewer, half_errored
):
    _, server = half_errored
    address = f"/p/{project.slug}/runs/1/"
    client.force_login(viewer)
    page = " ".join(client.get(address).content.decode().split())
    assert '<b class="num">1</b> of <span class="num">3</span> cases</a> are errored' in page
    assert f"The simulator failed: {server.url}/reset answered 500: out of order" in page.replace("&#x27;", "'")
    assert "Re-run 1 errored" not in page
    client.force_login(adjudicator)
    assert "Re-run 1 errored case" in client.get(address).content.decode()
    client.post(f"{address}errored/")
    assert "Re-run 1 errored" not in client.get(address).content.decode()
    run_jobs()
    page = client.get(address).content.decode()
    assert "are errored" not in page
    assert CaseGrade.objects.filter(outcome="errored").count() == 1


def test_a_job_that_asks_again_succeeds_by_rest(project, run_jobs, client, adjudicator, half_errored):
    client.force_login(adjudicator)
    answer = client.post(f"/api/v1/projects/{project.slug}/runs/1/errored/")
    assert answer.status_code == 202
    run_jobs()
    assert Job.objects.latest("pk").state == JobState.SUCCEEDED
