"""One application whose jobs last, behind a proxy whose answers take longer: all jobs at once, watched together."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from scripts.dev.environment import ROOT
from tests.agents.chat_server import chat_server
from tests.agents.judges import judging
from tests.agents.mcp_shop import shop_over_http
from tests.fixtures.prepared import ALONE, prepared_copy, prepared_root
from tests.runs.building import example
from tests.runs.calibrated import scored
from tests.servers.delaying import DelayingProxy
from tests.servers.process import free_port
from toolevals.serving.application import Application

# Longer than a pace takes to be told, and than what a person calls at once.
HELD_SECONDS = 12
PATIENCE_SECONDS = 300
SLUG = "shop"
EXAMPLE = example("cli", "Hello", None)
GATE = {"bounds": [{"metric": "outcome", "min": 0}]}


@dataclass
class SlowApp:
    """The application, the slow way to it, and what was begun in it."""

    application: Application
    proxy: DelayingProxy
    seeded: dict[str, Any]
    release: Path
    # Of each kind the answers of the REST interface about its job, and what the command line said of it at work.
    seen: dict[str, list[httpx.Response]] = field(default_factory=dict)
    said: dict[str, subprocess.CompletedProcess[str]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return self.proxy.url

    def toolevals(self, *words: str) -> subprocess.Popen[str]:
        """Start the command, at the slow server."""
        environment = os.environ | {
            "TOOLEVALS_URL": self.url,
            "TOOLEVALS_PROJECT": SLUG,
            "TOOLEVALS_TOKEN": self.seeded["token"],
        }
        command = [sys.executable, "-m", "toolevals.cli.main", *words]
        pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, cwd=ROOT, env=environment, text=True, **pipes)


@pytest.fixture(scope="session")
def slow_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlowApp]:
    """The application with a job of each kind begun, and its worker at them."""
    data = tmp_path_factory.mktemp("slow") / "data"
    prepared_copy(prepared_root(tmp_path_factory), data, sample=False)
    environment = {
        **ALONE,
        "SLOW_LANE_RELEASE": str(data / "release"),
        "AGENT_NETWORKS": "127.0.0.0/8",
        "SWEEP_SECONDS": "0.25",
        "SLOW_LANE_SECONDS": str(HELD_SECONDS),
    }
    with chat_server(judging(scored)) as judge, shop_over_http() as shop:
        application = Application(
            python=sys.executable,
            data=data,
            port=free_port(),
            environment=environment,
        )
        with application, DelayingProxy(application.port) as proxy:
            application.prepare(sample=False)
            application.web_start()
            words = [sys.executable, "-m", "tests.slow_lane.seed", judge.url, shop]
            seed = subprocess.run(words, cwd=ROOT, env=application.environment, stdout=subprocess.PIPE, check=True)
            app = SlowApp(application, proxy, json.loads(seed.stdout), data / "release")
            # Threads: they wait, and cost nothing meanwhile.
            worker = ["-m", "celery", "--quiet", "-A", "tests.slow_lane.worker", "worker", "-P", "threads", "-c", "40"]
            application.start_process("slow worker", [*worker, "--loglevel", "WARNING"])
            yield app


@pytest.fixture(scope="session")
def watched(slow_app: SlowApp, tmp_path_factory: pytest.TempPathFactory) -> SlowApp:
    """The same after all jobs have come to their ends, watched by REST and command line meanwhile."""
    commands = commands_started(slow_app, tmp_path_factory.mktemp("commands"))
    headers = {"Authorization": f"Bearer {slow_app.seeded['token']}"}
    jobs = dict(slow_app.seeded["jobs"])
    slow_app.seen = {kind: [] for kind in jobs}
    with httpx.Client(base_url=f"{slow_app.url}/api/v1/projects/{SLUG}/jobs/", headers=headers, timeout=60) as client:
        watch(slow_app, client, jobs, until=at_a_pace)
        listed = {"jobs": slow_app.toolevals("jobs"), "jobs --json": slow_app.toolevals("jobs", "--json")}
        for process in listed.values():
            process.wait(timeout=PATIENCE_SECONDS)
        slow_app.release.touch()
        watch(slow_app, client, jobs, until=has_ended)
    for name, process in (commands | listed).items():
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
        slow_app.said[name] = subprocess.CompletedProcess(name, process.returncode, out, err)
    return slow_app


def watch(
    app: SlowApp, client: httpx.Client, jobs: dict[str, str], *, until: Callable[[list[httpx.Response]], bool]
) -> None:
    """Ask for each job until its answers are such, and at most for a while: what is missing then, the tests say."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    left = dict(jobs)
    while left and time.monotonic() < deadline:
        for kind, job in list(left.items()):
            app.seen[kind].append(client.get(f"{job}/"))
            if until(app.seen[kind]):
                del left[kind]


def has_ended(answers: list[httpx.Response]) -> bool:
    """Return whether a job has come to its end."""
    return answers[-1].is_success and answers[-1].json()["state"] not in ("running", "paused")


def at_a_pace(answers: list[httpx.Response]) -> bool:
    """Return whether a job was seen at work with a rate."""
    return any(answer.is_success and answer.json()["rate"] is not None for answer in answers)


def commands_started(app: SlowApp, folder: Path) -> dict[str, subprocess.Popen[str]]:
    """Start the verbs that wait for work."""
    rows = folder / "rows.jsonl"
    rows.write_text(json.dumps(EXAMPLE) + "\n")
    gate = folder / "gate.json"
    gate.write_text(json.dumps(GATE))
    return {
        "import": app.toolevals("import", "jsonl", str(rows), "--dataset", "from-cli"),
        "run": app.toolevals("run", "other", "--experiment", "slow", "--baseline"),
        "gate": app.toolevals("gate", "--run", str(app.seeded["run"]), "--config", str(gate)),
        "again": app.toolevals("retry", str(app.seeded["run"]), "--grades"),
        "export": app.toolevals("export", "desk"),
    }
