"""Measures what a team leaves behind: 50 labellers, 10 readers, 4 importers and a sender of traces, for an hour.

Everything runs as in production: gunicorn, two workers, PostgreSQL and Redis; people speak HTTP with it on loopback and
think in between. A row is the first, second or last third of the time; `--minutes` is another time. Errors have to be
none, and memory, connections and open files of the last third no more than in the second.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from benchmarks._measuring import (
    MINUTES,
    WORDS,
    descendants,
    do_step,
    example,
    graded,
    imported,
    installation,
    p95,
    prediction,
    prepared,
    step,
    step_started,
    work,
)
from benchmarks.row import Row
from tests.servers import RedisServer
from tests.servers.process import free_port
from toolevals.serving.application import Application

LABELLERS, READERS, IMPORTERS, SENDERS = 50, 10, 4, 1
# Seconds that each thinks, on the average: 5 labels, 2 pages, a fifth of an import and a fifth of a batch a second.
THINKS = {"labels": 10.0, "reads": 5.0, "imports": 20.0, "sends traces": 5.0}
CASES, ROWS_OF_IMPORT, LABELS_A_MINUTE = 2_000, 200, 60 * LABELLERS / THINKS["labels"]
THIRDS = ("begin", "middle", "end")
SAMPLE_SECONDS = 5.0
# How many times as much the last third may hold as the second.
MOST = 1.1
READ = ("", "runs/", "runs/1/", "runs/1/matrix/", "runs/1/cases/", "runs/1/compare/2/", "runs/1/tools.csv", "datasets/")
BASE = "/api/v1/projects/bench"
TOLD = 5
# An import that takes longer is an error.
IMPORT_SECONDS = 180


def rows() -> Iterator[Row]:
    """Let them work."""
    minutes = float(os.environ.get(MINUTES) or 60)
    with installation("PostgreSQL") as own, RedisServer() as broker:
        environment = own | {"REDIS_URL": broker.url}
        step("soak", environment, "prepare", str(int(minutes * LABELS_A_MINUTE)))
        data = Path(environment["TOOLEVALS_DATA_DIR"])
        with Application(python=sys.executable, data=data, port=free_port(), environment=environment) as server:
            server.prepare(sample=False)
            server.start()
            server.worker_start("worker 2")
            people = step_started("soak", environment, "people", str(server.port), str(60 * minutes))
            roots = {
                "web server": server.processes["web server"].pid,
                "workers": server.processes["worker"].pid,
                "workers, second": server.processes["worker 2"].pid,
                "PostgreSQL": _server_of(os.getpid(), "postgres"),
                "Redis": _server_of(os.getpid(), "redis-server"),
            }
            samples, found = _sampled(roots, people)
    yield from _asked(found)
    yield from _held(samples)


def _asked(found: dict[str, Any]) -> Iterator[Row]:
    """Say what requests took, by kind and third, and how many were refused."""
    for said in found["errors"][:TOLD]:
        print(said, file=sys.stderr)
    yield Row("errors", len(found["errors"]), "errors", target=0, better="lower")
    for kind, taken in sorted(found["times"].items()):
        yield Row(f"{kind}: requests", len(taken), "requests")
        for number, third in enumerate(THIRDS):
            some = [seconds for at, seconds in taken if int(min(at, 0.999) * 3) == number]
            if some:
                yield Row(f"{kind}: p95, {third}", p95(some), "ms", better="lower")


def _held(samples: list[dict[str, dict[str, float]]]) -> Iterator[Row]:
    """Say what processes hold, by third; of each the median of its samples."""
    parts = [samples[len(samples) * n // 3 : len(samples) * (n + 1) // 3] for n in range(3)]
    for name in samples[0]:
        for what, unit in (("memory", "MiB"), ("processes", "processes"), ("open files", "files")):
            begin, middle, end = (_median([each[name][what] for each in part]) for part in parts)
            title = f"{name}: {what}"
            for third, value in zip(THIRDS, (begin, middle, end), strict=True):
                yield Row(f"{title}, {third}", value, unit, better="lower")
            yield Row(f"{title}, end over middle", end / (middle or 1), "times", target=MOST, better="lower")


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def _sampled(roots: dict[str, int], people: Any) -> tuple[list[dict[str, dict[str, float]]], Any]:
    """Look at the processes until the people have gone home; return what was seen, and what they say."""
    samples = []
    while True:
        samples.append({name: _looked(pid) for name, pid in roots.items()})
        try:
            printed, _ = people.communicate(timeout=SAMPLE_SECONDS)
        except subprocess.TimeoutExpired:
            continue
        if people.returncode:
            raise RuntimeError(f"the people failed with status {people.returncode}")
        return samples, json.loads(printed)


def _looked(root: int) -> dict[str, float]:
    """Return what a process and those below it hold. A process of PostgreSQL is a connection, or of its own."""
    found = {"memory": 0.0, "processes": 0.0, "open files": 0.0}
    for pid in (root, *descendants(root)):
        try:
            shares = Path(f"/proc/{pid}/smaps_rollup").read_text()
            files = len(list(Path(f"/proc/{pid}/fd").iterdir()))
        except OSError:
            continue
        [pss] = [line.split()[1] for line in shares.splitlines() if line.startswith("Pss:")]
        found["memory"] += int(pss) / 1024
        found["processes"] += 1
        found["open files"] += files
    return found


def _server_of(root: int, name: str) -> int:
    """Return the first process of a name below one."""
    named = (pid for pid in descendants(root) if Path(f"/proc/{pid}/comm").read_text().strip() == name)
    return min(named)


def prepare(labels: int) -> None:
    """Make accounts, two graded runs to read, and examples for more labels than will come."""
    project, tools, people = prepared(persons=LABELLERS + READERS + IMPORTERS + SENDERS)
    from labeling.versions.services import version_freeze
    from toolevals.workspace.models import Role
    from toolevals.workspace.projects.services import member_set

    for person in people[-SENDERS - IMPORTERS :]:
        member_set(project=project, actor=None, user=person, role=Role.ADJUDICATOR)

    content = b"".join(example(number, f"tool_{number % 10}") for number in range(CASES))
    version = version_freeze(dataset=imported(project, tools, "core", content), actor=None)
    work()
    for run in (1, 2):
        called = ((number + (number % 100 < 10 * run)) % 10 for number in range(CASES))
        graded(
            version, b"".join(prediction(number, 0, f"tool_{tool}") for number, tool in enumerate(called)), f"run {run}"
        )
    messages = ([{"role": "user", "content": f"{WORDS * 11}{number}"}] for number in range(2 * labels + 1000))
    waiting = [{"id": f"w-{number:06}", "input": {"messages": each}} for number, each in enumerate(messages)]
    imported(project, tools, "support", b"".join(json.dumps(row).encode() + b"\n" for row in waiting))


class People:
    """Everyone, each in a thread, until the time is over."""

    def __init__(self, port: int, seconds: float) -> None:
        from toolevals.workspace.models import Project, Role, TokenScope, User
        from toolevals.workspace.tokens.services import token_create

        self.port, self.seconds = port, seconds
        self.times: dict[str, list[tuple[float, float]]] = defaultdict(list)
        self.errors: list[str] = []
        _, self.secret = token_create(
            project=Project.objects.get(slug="bench"),
            actor=None,
            user=User.objects.get(email="client0@example.org"),
            name="traces",
            role=Role.VIEWER,
            scope=TokenScope.TRACES,
        )

    def work(self) -> dict[str, Any]:
        """Have all of them work, and return what came of it."""
        acts = [*map(self.labeller, range(LABELLERS)), *map(self.reader, range(READERS))]
        acts += [*map(self.importer, range(IMPORTERS)), *map(self.sender, range(SENDERS))]
        from django.db import connections

        # What is left to do is HTTP.
        connections.close_all()
        self.began = time.monotonic()
        threads = [threading.Thread(target=self._again, args=each) for each in acts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return {"times": self.times, "errors": self.errors}

    def _again(self, role: str, chance: Random, act: Callable[[], dict[str, float]]) -> None:
        time.sleep(chance.random() * THINKS[role])
        while (gone := time.monotonic() - self.began) < self.seconds:
            try:
                for kind, seconds in act().items():
                    self.times[kind].append((gone / self.seconds, seconds))
            except Exception as error:  # noqa: BLE001 - whatever it is, it counts
                self.errors.append(f"{role}: {type(error).__name__}: {error}"[:500])
            time.sleep(THINKS[role] * (0.5 + chance.random()))

    def _person(self, number: int) -> Any:
        from benchmarks.labeling import Labeller

        return Labeller(number, self.port)

    def labeller(self, number: int) -> tuple[str, Random, Callable[[], dict[str, float]]]:
        """Label: every second one by REST, the others on the page."""
        person = self._person(number)
        if number % 2:
            person.enter_by_token()
            return (
                "labels",
                Random(number),
                lambda: dict(zip(("claims by REST", "labels by REST"), person.next_and_submit(), strict=True)),
            )
        person.enter_by_session()

        def label() -> dict[str, float]:
            if person.response is None:
                return {"first page of labelling": person.first_page()}
            return {"labels on the page": person.submit_page()}

        return "labels", Random(number), label

    def reader(self, number: int) -> tuple[str, Random, Callable[[], dict[str, float]]]:
        """Read a page of the project after the other."""
        person, chance = self._person(LABELLERS + number), Random(number)
        person.enter_by_session()
        person.headers = {"Cookie": person.headers["Cookie"]}

        def read() -> dict[str, float]:
            path = chance.choice(READ)
            return {f"page /{path}": person.ask("GET", f"/p/bench/{path}")}

        return "reads", chance, read

    def importer(self, number: int) -> tuple[str, Random, Callable[[], dict[str, float]]]:
        """Send the same file into a dataset of one's own, changed in each of its rows, and wait until it is in."""
        person, rounds = self._person(LABELLERS + READERS + number), iter(range(10**9))
        person.enter_by_token("adjudicator")
        slug = f"imports-{number}"
        _dataset_make(slug)

        def send() -> dict[str, float]:
            turn = next(rounds)
            body = b"".join(example(row, f"tool_{(row + turn) % 10}") for row in range(ROWS_OF_IMPORT))
            person.headers["Content-Type"] = "application/jsonl"
            sent = person.ask("POST", f"{BASE}/datasets/{slug}/imports/?source=jsonl", body)
            job, began = json.loads(person.content), time.monotonic()
            while job["state"] in ("pending", "running"):
                if time.monotonic() - began > IMPORT_SECONDS:
                    raise RuntimeError(f"an import is {job['state']} after {IMPORT_SECONDS} seconds")
                time.sleep(0.5)
                person.ask("GET", f"{BASE}/jobs/{job['id']}/")
                job = json.loads(person.content)
            if job["state"] != "succeeded":
                raise RuntimeError(f"an import {job['state']}: {job['reason']}")
            return {"imports, sent": sent, "imports, until they are in": time.monotonic() - began}

        return "imports", Random(number), send

    def sender(self, number: int) -> tuple[str, Random, Callable[[], dict[str, float]]]:
        """Send a batch of spans, as an agent's exporter does."""
        from benchmarks.traces import batch

        person, chance = self._person(LABELLERS + READERS + IMPORTERS + number), Random(number)
        person.headers = {"Authorization": f"Bearer {self.secret}", "Content-Type": "application/x-protobuf"}
        return "sends traces", chance, lambda: {"batches of traces": person.ask("POST", "/v1/traces", batch(chance))}


def _dataset_make(slug: str) -> None:
    from labeling.datasets.services import dataset_create
    from labeling.models import Dataset

    waiting = Dataset.objects.get(slug="support")
    dataset_create(project=waiting.project, actor=None, slug=slug, name=slug, default_tools=waiting.default_tools)


if __name__ == "__main__":
    do_step(prepare, lambda _, port, minutes: People(int(port), float(minutes)).work())
