"""Jobs that kill the worker of a running application, and one that stands still: nothing else is hurt."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.test_gate_server import token_of
from tests.fixtures.application import LiveApp
from toolevals.cli.serve import StopRequested, watch
from toolevals.serving.application import Process

pytestmark = [pytest.mark.servers, pytest.mark.once]

ATTEMPTS, PATIENCE_SECONDS = 2, 180
POISON = """
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Project
project = Project.objects.get(slug="shop-support")
plans = [BatchPlan("tests.work", {{"{poison}": True}})]
print(job_create(project=project, actor=None, kind="test", title="Poison", batches=plans).pk)
"""
NEWER = """
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Project
project = Project.objects.get(slug="shop-support")
plans = [BatchPlan("newer.work", {{}}) for _ in range({count})]
job_create(project=project, actor=None, kind="test", title="Newer", batches=plans)
"""
TOOLS = [{"name": "greet", "description": "Greets.", "parameters": {"type": "object", "properties": {}}}]


def line(number: int) -> str:
    asked = {"messages": [{"role": "user", "content": f"Hello {number}"}]}
    return json.dumps({"id": f"n-{number}", "input": asked, "tools": TOOLS}) + "\n"


LINES = "".join(map(line, range(20)))


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that holds what the application says."""
    return tmp_path_factory.mktemp("log") / "said"


@contextmanager
def errors_into(file: Path) -> Iterator[None]:
    """Let what is started meanwhile say in a file what goes wrong."""
    before = os.dup(2)
    with file.open("ab") as said:
        os.dup2(said.fileno(), 2)
        yield
        os.dup2(before, 2)
    os.close(before)


@pytest.fixture(scope="module")
def app(live_app_start: Callable[..., LiveApp], log: Path) -> Iterator[LiveApp]:
    """The sample project with a worker that takes poison, watched as `toolevals serve` watches it."""
    with errors_into(log):
        started = live_app_start(
            sample=True,
            loaded=False,
            DJANGO_SETTINGS_MODULE="tests.poisoned_settings",
            BATCH_LEASE_SECONDS="2",
            BATCH_MAX_ATTEMPTS=str(ATTEMPTS),
        )
    application, ended, start = started.application, started.application.ended, started.application.start_process
    over = threading.Event()

    def ended_or_over() -> list[str]:
        if over.is_set():
            raise StopRequested
        return ended()

    def watched() -> None:
        with suppress(StopRequested):
            watch(application)

    def start_process(*words: Any, **how: Any) -> Process:
        with errors_into(log):
            return start(*words, **how)

    application.start_process = start_process  # type: ignore[method-assign]
    application.ended = ended_or_over  # type: ignore[method-assign]
    watching = threading.Thread(target=watched)
    watching.start()
    yield started
    over.set()
    watching.join()


@pytest.fixture
def client(app: LiveApp) -> Iterator[httpx.Client]:
    """An adjudicator's programs."""
    headers = {"Authorization": f"Bearer {token_of(app, 'shop-support')}"}
    with httpx.Client(base_url=f"{app.url}/api/v1/projects/shop-support/", headers=headers, timeout=60) as found:
        yield found


def answers_at_once(app: LiveApp) -> None:
    begun = time.monotonic()
    assert httpx.get(f"{app.url}/healthz", timeout=10).status_code == 200
    assert time.monotonic() - begun < 1


def ended(app: LiveApp, client: httpx.Client, job: str) -> Any:
    """Return the job at its end; the web server answers at once meanwhile."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        answers_at_once(app)
        found = client.get(f"jobs/{job}/").json()
        if found["state"] != "running":
            return found
        time.sleep(0.2)
    raise AssertionError(f"the job does not end: {found}")


def imported(client: httpx.Client, name: str) -> str:
    made = client.post("datasets/", json={"slug": name, "name": name})
    assert made.status_code == 201, made.text
    sent = client.post(f"datasets/{name}/imports/", files={"file": ("hello.jsonl", LINES)}, data={"source": "jsonl"})
    assert sent.status_code == 202, sent.text
    return str(sent.json()["id"])


@pytest.mark.parametrize("poison", ["dies", "stands_still"])
def test_a_job_that_kills_its_worker_fails_by_name_and_an_import_is_done_meanwhile(
    app: LiveApp, client: httpx.Client, log: Path, poison: str
) -> None:
    web = app.application.processes["web server"]
    poisoned = app.python(POISON.format(poison=poison)).strip()
    asked = imported(client, f"beside-{poison.replace('_', '-')}")
    done = ended(app, client, asked)
    assert done["state"] == "succeeded", done
    assert client.get(f"jobs/{poisoned}/").json()["state"] == "running"
    failed = ended(app, client, poisoned)
    reason = f"Attempt {ATTEMPTS} of {ATTEMPTS}: the worker that held it ended, or gave no sign of life."
    assert (failed["state"], failed["reason"]) == ("failed", reason)
    assert f"tests.work) of the job {poisoned}, 'Poison': {reason}" in log.read_text()
    assert web.poll() is None


def test_ten_thousand_batches_of_a_newer_version_do_not_hold_up_an_import(
    app: LiveApp, client: httpx.Client, log: Path
) -> None:
    before = len(log.read_text())
    app.python(NEWER.format(count=10_000))
    done = ended(app, client, imported(client, "beside-newer"))
    assert done["state"] == "succeeded", done
    said = log.read_text()[before:]
    assert said.count("newer.work") == 1
    assert "Traceback" not in said
