"""Measures one size of `growth` in its own installation: `python -m benchmarks._growth EXAMPLES WARM`; prints JSON.

Everything is done as workers and the web server do it, in this process; what counts is the processor time of all that
the parent process has started, so that of PostgreSQL is in it. WARM examples come first and count for nothing.
"""

from __future__ import annotations

import io
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from http import HTTPStatus
from itertools import count
from typing import Any

import django

from benchmarks._processor import processor_seconds
from benchmarks._throughput import TOOLS, WRONG

# Of a page: the least of so many means over so many, after one that counts for nothing. A page takes ten milliseconds,
# and other work on the machine a few more.
ROUNDS, TIMES = 5, 20
MICRO = 1_000_000
WORDS = "My parcel was due on Monday and has not come; can you tell me where it is? "
_numbers = count(1)


def measure(examples: int) -> dict[str, float]:
    """Return the processor time of each unit in microseconds: of an example, a case, a row of a file, a page."""
    from django.test import Client

    from labeling.services import dataset_create, version_freeze
    from toolevals.workspace.models import Project

    project = Project.objects.get(slug="bench")
    slug = f"support-{next(_numbers)}"
    dataset = dataset_create(project=project, actor=None, slug=slug, name=slug, default_tools=_tools(project))
    rows = io.BytesIO(b"".join(_rows(examples)))
    found = {"import, an example": _each(examples, lambda: _import(dataset, rows, examples))}
    for name in ("jsonl", "csv"):
        found[f"export, {name}, an example"] = _each(examples, partial(_export, dataset, name))
    version = version_freeze(dataset=dataset, actor=None)
    _work()
    content = io.BytesIO(b"".join(_predictions(examples)))
    run, seconds = _timed(lambda: _graded(version, content, slug))
    found["upload, grade and count by job, a case"] = MICRO * seconds / examples
    client = Client(SERVER_NAME="localhost")
    client.force_login(_person())
    base = f"/p/bench/runs/{run.number}/"
    for name, path in (("run page", ""), ("matrix page", "matrix/"), ("reliability page", "reliability/")):
        found[f"{name}, a page"] = _page(client, base + path)
    # The file may be made by a job, and then fetched; `now` asks for it at once.
    found["cases CSV, a row"] = _each(examples, lambda: _lines(client.get(base + "cases.csv", {"now": "1"}), examples))
    return found


def _each(units: int, act: Callable[[], object]) -> float:
    return MICRO * _timed(act)[1] / units


def _timed(act: Callable[[], Any]) -> tuple[Any, float]:
    begun = _processor()
    result = act()
    return result, _processor() - begun


def _processor() -> float:
    """Return the seconds of this process, to the microsecond, and those of the servers next to it."""
    return time.process_time() + processor_seconds(os.getppid(), without=os.getpid())


def _page(client: Any, path: str) -> float:
    def ask() -> None:
        response = client.get(path)
        if response.status_code != HTTPStatus.OK:
            raise RuntimeError(f"{path}: {response.status_code}")

    ask()

    def ask_often() -> None:
        for _ in range(TIMES):
            ask()

    return min(_each(TIMES, ask_often) for _ in range(ROUNDS))


def _lines(response: Any, examples: int) -> None:
    lines = sum(chunk.count(b"\n") for chunk in response.streaming_content)
    if lines < examples:
        raise RuntimeError(f"{lines} lines of {examples} cases")


def _import(dataset: Any, file: io.BytesIO, examples: int) -> None:
    from labeling.services import import_start
    from toolevals.workspace.services import upload_store

    upload = upload_store(project=dataset.project, actor=None, file=file, name="rows.jsonl")
    import_start(dataset=dataset, actor=None, upload=upload)
    _work()
    if dataset.examples.count() != examples:
        raise RuntimeError("not every example was imported")


def _export(dataset: Any, name: str) -> None:
    from labeling.exports import Outcome, Selection, format_named

    for _ in format_named(name).write(Selection(dataset), Outcome()):
        pass


def _graded(version: Any, content: io.BytesIO, name: str) -> Any:
    from toolevals.runs.services import RunRequest, run_request_upload

    run: Any = run_request_upload(
        project=version.dataset.project,
        actor=None,
        request=RunRequest(experiment="bench", dataset_version=version, trials=1, name=name),
        file=content,
        file_name="predictions.jsonl",
    )
    _work()
    run.job.refresh_from_db()
    if run.job.state != "succeeded":
        raise RuntimeError(f"{run.job.title} {run.job.state}: {[batch.error for batch in run.job.failures()]}")
    return run


def _work() -> None:
    """Do every batch that is due, as one worker would."""
    from celery import current_app
    from django.utils import timezone

    from toolevals.workspace.models import Batch

    while batch := Batch.objects.due(timezone.now()).order_by("id").first():
        current_app.tasks[batch.task](str(batch.pk))


def _rows(examples: int) -> Iterator[bytes]:
    for number in range(examples):
        message = {"role": "user", "content": f"{WORDS * 11}{number}"}
        tool = f"tool_{number % 10}"
        row = {"id": f"ex-{number:07}", "input": {"messages": [message]}, "expected_tool": tool}
        yield json.dumps(row | {"expected_args": {"order_id": f"ORD-{number}"}}).encode() + b"\n"


def _predictions(examples: int) -> Iterator[bytes]:
    for number in range(examples):
        tool = (number + (number % 100 < WRONG)) % 10
        made = [{"name": f"tool_{tool}", "arguments": {"order_id": f"ORD-{number}"}}]
        yield json.dumps({"id": f"ex-{number:07}", "trial": 0, "tool_calls": made}).encode() + b"\n"


def _prepare() -> None:
    from celery import current_app
    from django.core.management import call_command

    from toolevals.registry.services import registry_create, registry_publish
    from toolevals.workspace.models import Role
    from toolevals.workspace.services import member_set, project_create, user_create

    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    # As a worker does when it starts, and as the web server does.
    current_app.loader.import_default_modules()
    import toolevals.wsgi  # noqa: F401

    project = project_create(actor=None, slug="bench", name="Bench")
    user = user_create(actor=None, email="bench@example.org", name="Bench")
    member_set(project=project, actor=None, user=user, role=Role.VIEWER)
    registry = registry_create(project=project, actor=None, slug="shop", name="Shop")
    registry_publish(registry=registry, actor=None, document=TOOLS)


def _tools(project: Any) -> Any:
    from toolevals.registry.models import RegistryVersion

    return RegistryVersion.objects.get(registry__project=project)


def _person() -> Any:
    from toolevals.workspace.models import User

    return User.objects.get(email="bench@example.org")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolevals.settings")
    django.setup()
    _prepare()
    measure(int(sys.argv[2]))
    sys.stdout.write(json.dumps(measure(int(sys.argv[1]))))
