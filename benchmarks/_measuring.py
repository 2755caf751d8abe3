"""Holds what suites share: their size, an installation of their own and the steps in it, and processor time (Linux).

What needs Django is called in a step's own process, `python -m benchmarks.SUITE WORDS`, which prints JSON.
"""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import django

from scripts.dev.environment import ROOT
from tests.servers import PostgresServer
from tests.servers.process import free_port
from toolevals.serving.application import end_group

# Set by `--size`, `--database` and `--minutes`.
SIZE, DATABASE, MINUTES = "BENCH_SIZE", "BENCH_DATABASE", "BENCH_MINUTES"
DATABASES = ("SQLite", "PostgreSQL")
PEOPLE = 8
# How long `toolevals serve` may take to start with the sample, and to stop.
SERVE_SECONDS, STOP_SECONDS = 300, 60
WORDS = "My parcel was due on Monday and has not come; can you tell me where it is? "
# Of /proc/PID/stat after the name: the parent, then user and system time of the process and of its ended children.
PARENT, TIMES = 1, slice(11, 15)


def size(usual: int) -> int:
    """Return how many units a suite measures."""
    return int(os.environ.get(SIZE) or usual)


def databases() -> Sequence[str]:
    """Return the databases to measure on."""
    return [os.environ[DATABASE]] if os.environ.get(DATABASE) else DATABASES


@contextmanager
def installation(database: str) -> Iterator[dict[str, str]]:
    """Yield the environment of an empty installation. Raises where PostgreSQL is not on this machine."""
    with ExitStack() as stack:
        own = {
            "DJANGO_SETTINGS_MODULE": "toolevals.settings",
            "TOOLEVALS_DATA_DIR": stack.enter_context(tempfile.TemporaryDirectory(prefix="toolevals-bench-")),
            "TOOLEVALS_DEBUG": "",
            "REDIS_URL": "",
            "DATABASE_URL": "",
        }
        if database == "PostgreSQL":
            own["DATABASE_URL"] = stack.enter_context(PostgresServer()).database_create("bench")
        yield own


@contextmanager
def served(environment: dict[str, str]) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Yield the process of `toolevals serve` with the sample project, and its address."""
    port = free_port()
    data = Path(environment["TOOLEVALS_DATA_DIR"])
    words = ["-m", "toolevals.cli.main", "serve", "--port", str(port), "--data", str(data)]
    with (data / "log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, *words],
            cwd=ROOT,
            env=os.environ | environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + SERVE_SECONDS
        while "Ctrl-C stops it" not in (said := (data / "log").read_text(errors="replace")):
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"it does not start: {said[-800:]}")
            time.sleep(0.2)
        yield server, f"http://127.0.0.1:{port}"
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(timeout=STOP_SECONDS)
        finally:
            end_group(server)


def step(suite: str, environment: dict[str, str], *words: str) -> Any:
    """Do a step of a suite in a process of an installation, and return what it prints."""
    return answer(step_started(suite, environment, *words))


def step_started(suite: str, environment: dict[str, str], *words: str) -> subprocess.Popen[bytes]:
    """Start a step."""
    command = [sys.executable, "-m", f"benchmarks.{suite}", *words]
    return subprocess.Popen(command, cwd=ROOT, env=os.environ | environment, stdout=subprocess.PIPE)


def answer(process: subprocess.Popen[bytes]) -> Any:
    """Return what a step prints. Raises RuntimeError where it failed."""
    printed, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"a step of the measurement failed with status {process.returncode}")
    return json.loads(printed)


def p95(seconds: Sequence[float]) -> float:
    """Return the 95th percentile in milliseconds."""
    return 1000 * sorted(seconds)[min(len(seconds) - 1, int(len(seconds) * 0.95))]


def timed(act: Callable[[], object]) -> float:
    """Return the seconds that an act took by the clock."""
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def processor_seconds(root: int, *, without: int = 0) -> float:
    """Return the seconds that the descendants of a process have taken, those included that ended and were waited for.

    Other work on the machine changes them little. `without` is a descendant that does not count.
    """
    return sum(map(_seconds, descendants(root, without=without).values()))


def process_seconds(pid: int) -> float:
    """Return the seconds that one process has taken, and those of its children that ended; 0 where it has ended."""
    return _seconds(_fields(pid))


def descendants(root: int, *, without: int = 0) -> dict[int, list[str]]:
    """Return the processes below one, those below them included: process id -> the fields of its `stat`."""
    pids = [int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdecimal()]
    found = {pid: fields for pid in pids if (fields := _fields(pid))}
    below = {root}
    while more := {pid for pid, fields in found.items() if int(fields[PARENT]) in below and pid != without} - below:
        below |= more
    return {pid: found[pid] for pid in below - {root}}


def _seconds(fields: list[str]) -> float:
    return sum(map(int, fields[TIMES])) / os.sysconf("SC_CLK_TCK")


def _fields(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        # It has ended meanwhile.
        return []


def prepared(tools: int = 10, persons: int = PEOPLE) -> tuple[Any, Any, list[Any]]:
    """Make the tables; return a project, so many published tools, and reviewers. It does what servers do first."""
    django.setup()
    from celery import current_app
    from django.core.management import call_command

    from toolevals.registry.services import registry_create, registry_publish
    from toolevals.workspace.accounts.services import user_create
    from toolevals.workspace.models import Role
    from toolevals.workspace.projects.services import member_set, project_create

    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    current_app.loader.import_default_modules()
    import toolevals.wsgi  # noqa: F401

    project = project_create(actor=None, slug="bench", name="Bench")
    people = [user_create(actor=None, email=f"client{n}@example.org", name=f"Client {n}") for n in range(persons)]
    for user in people:
        member_set(project=project, actor=None, user=user, role=Role.REVIEWER)
    registry = registry_create(project=project, actor=None, slug="shop", name="Shop")
    properties = {"order_id": {"type": "string"}, "verbose": {"type": "boolean"}}
    schema = {"type": "object", "properties": properties, "required": ["order_id"]}
    document = [
        {"name": f"tool_{n}", "description": f"Does thing {n} to an order.", "input_schema": schema}
        for n in range(tools)
    ]
    return project, registry_publish(registry=registry, actor=None, document=document), people


def imported(project: Any, tools: Any, slug: str, content: bytes) -> Any:
    """Return a new dataset with the examples of a file, imported by a job."""
    from labeling.datasets.services import dataset_create
    from labeling.imports.services import import_start
    from toolevals.workspace.uploads.services import upload_store

    dataset = dataset_create(project=project, actor=None, slug=slug, name=slug, default_tools=tools)
    upload = upload_store(project=project, actor=None, file=io.BytesIO(content), name="rows.jsonl")
    import_start(dataset=dataset, actor=None, upload=upload)
    work()
    if dataset.examples.count() != content.count(b"\n"):
        raise RuntimeError("not every example was imported")
    return dataset


def graded(version: Any, content: bytes, name: str, trials: int = 1) -> Any:
    """Return a new run of uploaded predictions, graded and counted by jobs. Raises RuntimeError where one failed."""
    from toolevals.runs.runs.requesting import RunRequest, run_request_upload

    run: Any = run_request_upload(
        project=version.dataset.project,
        actor=None,
        request=RunRequest(experiment="bench", dataset_version=version, trials=trials, name=name),
        file=io.BytesIO(content),
        file_name="predictions.jsonl",
    )
    work()
    run.job.refresh_from_db()
    if run.job.state != "succeeded":
        raise RuntimeError(f"{run.job.title} {run.job.state}: {[batch.error for batch in run.job.failures()]}")
    return run


def example(number: int, tool: str, **more: Any) -> bytes:
    """Return a row of an import, of about a kilobyte, that expects a call of a tool."""
    message = {"role": "user", "content": f"{WORDS * 11}{number}"}
    expected = {"expected_tool": tool, "expected_args": {"order_id": f"ORD-{number}"}}
    return json.dumps({"id": f"ex-{number:07}", "input": {"messages": [message]}, **expected, **more}).encode() + b"\n"


def prediction(number: int, trial: int, tool: str) -> bytes:
    """Return a prediction that calls a tool."""
    made = [{"name": tool, "arguments": {"order_id": f"ORD-{number}"}}]
    return json.dumps({"id": f"ex-{number:07}", "trial": trial, "tool_calls": made}).encode() + b"\n"


def do_step(prepare: Callable[[int], object], otherwise: Callable[..., Any]) -> None:
    """Do what the command line asks a step for, `prepare SIZE` or other words, and print as JSON what comes of it."""
    name, *words = sys.argv[1:]
    if name == "prepare":
        prepare(int(words[0]))
        found = None
    else:
        django.setup()
        found = otherwise(name, *words)
    sys.stdout.write(json.dumps(found))


def work() -> None:
    """Do every batch that is due, as one worker would."""
    from celery import current_app
    from django.utils import timezone

    from toolevals.workspace.models import Batch

    while batch := Batch.objects.due(timezone.now()).order_by("id").first():
        current_app.tasks[batch.task](str(batch.pk))
