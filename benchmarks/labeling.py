"""Measures labels: next and submit by one person, and by eight at once, on a running server; on both databases.

Labellers are processes that speak HTTP with the server on loopback: by REST, and on the page, whose answer to a label
is the next example. `--size` is the number of labels that are given each time.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from benchmarks._measuring import (
    PEOPLE,
    WORDS,
    answer,
    databases,
    do_step,
    imported,
    installation,
    p95,
    prepared,
    processor_seconds,
    size,
    step,
    step_started,
    timed,
)
from benchmarks.row import Row
from tests.servers.process import free_port
from toolevals.serving.application import Application

LABELS = 400
# Milliseconds of one request, and labels a second, of one person and of eight.
ALONE_MS, TOGETHER_MS, TOGETHER_RATE = 60, 250, 60
CALL = {
    "kind": "calls",
    "alternatives": [{"ordered": [{"tool": "tool_1", "arguments": {"order_id": {"exact": "A-1"}}}]}],
}
SAID = {"expectation": CALL, "rationale": "It asks where the parcel is."}
BASE, PAGES = "/api/v1/projects/bench", "/p/bench/label/"
ENTERED = {"tool": "1", "c1.v/order_id": "A-1", "rationale": "It asks where the parcel is.", "scope": "support"}
Times = dict[str, list[float]]


def rows() -> Iterator[Row]:
    """Measure on the databases."""
    labels = size(LABELS)
    for database in databases():
        with installation(database) as environment:
            # Twice as many examples as places for labels; each person has an example once.
            step("labeling", environment, "prepare", str(4 * labels))
            data = Path(environment["TOOLEVALS_DATA_DIR"])
            with Application(python=sys.executable, data=data, port=free_port(), environment=environment) as server:
                server.prepare(sample=False)
                server.start()
                for way in ("REST", "page"):
                    _given(environment, server.port, way, 1, 10)
                    for people, most in ((1, ALONE_MS), (PEOPLE, TOGETHER_MS)):
                        title = f"{database}, {way}, {people} at once"
                        yield from _rows(title, most, *_given(environment, server.port, way, people, labels))


def _rows(title: str, most: int, times: Times, processor: float, rate: float) -> Iterator[Row]:
    for name, taken in times.items():
        yield Row(f"{title}: {name}, p95", p95(taken), "ms", target=most, better="lower")
    yield Row(f"{title}: a label, processor time", 1000 * processor, "ms", better="lower")
    target = TOGETHER_RATE if most == TOGETHER_MS else None
    yield Row(f"{title}: labels", rate, "labels/s", target=target)


def _given(environment: dict[str, str], port: int, way: str, people: int, labels: int) -> tuple[Times, float, float]:
    """Return the seconds of requests, the processor seconds of a label of all servers, and labels a second."""
    before = processor_seconds(os.getpid())
    words = (way, str(port), str(labels // people))
    clients = [step_started("labeling", environment, str(number), *words) for number in range(people)]
    found = [answer(client) for client in clients]
    spent = processor_seconds(os.getpid()) - before
    times = {name: [each for one in found for each in one[name]] for name in found[0]}
    longest = max(sum(map(sum, one.values())) for one in found)
    return times, spent / len(times["submit"]), len(times["submit"]) / longest


def _prepare(examples: int) -> None:
    project, tools, _ = prepared()
    messages = [[{"role": "user", "content": f"{WORDS * 11}{number}"}] for number in range(examples)]
    rows = [{"id": f"ex-{number:05}", "input": {"messages": each}} for number, each in enumerate(messages)]
    imported(project, tools, "support", b"".join(json.dumps(row).encode() + b"\n" for row in rows))


class Labeller:
    """One person's connection. What the server refuses raises RuntimeError."""

    def __init__(self, number: int, port: int) -> None:
        from toolevals.workspace.models import Project, User

        self.user = User.objects.get(email=f"client{number}@example.org")
        self.project = Project.objects.get(slug="bench")
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.headers: dict[str, str] = {}
        self.response: Any = None
        self.content = b""

    def ask(self, method: str, path: str, body: str | bytes = "") -> float:
        """Return the seconds to the last byte."""
        taken = timed(lambda: self._ask(method, path, body))
        if self.response.status >= http.HTTPStatus.BAD_REQUEST:
            raise RuntimeError(f"{method} {path}: {self.response.status} {self.content[:300]!r}")
        return taken

    def _ask(self, method: str, path: str, body: str | bytes) -> None:
        self.connection.request(method, path, body or None, self.headers)
        self.response = self.connection.getresponse()
        self.content = self.response.read()

    def enter_by_token(self, role: str = "reviewer") -> None:
        """Send a token of one's own from now on."""
        from toolevals.workspace.models import Role
        from toolevals.workspace.tokens.services import token_create

        name = f"bench {time.time_ns()}"
        _, secret = token_create(project=self.project, actor=None, user=self.user, name=name, role=Role[role.upper()])
        self.headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}

    def enter_by_session(self) -> None:
        """Send a session's cookie from now on."""
        from django.test import Client
        from django.utils.crypto import get_random_string

        signed_in = Client()
        signed_in.force_login(self.user)
        token = get_random_string(32)
        cookies = f"sessionid={signed_in.cookies['sessionid'].value}; csrftoken={token}"
        self.headers = {"Cookie": cookies, "HX-Request": "true", "X-CSRFToken": token}
        self.headers["Content-Type"] = "application/x-www-form-urlencoded"

    def next_and_submit(self) -> tuple[float, float]:
        """Claim an example and label it by REST; return what each took."""
        claimed = self.ask("POST", f"{BASE}/claims/", json.dumps({"dataset": "support"}))
        path = f"{BASE}/claims/{json.loads(self.content)['id']}/label/"
        return claimed, self.ask("POST", path, json.dumps(SAID))

    def first_page(self) -> float:
        """Ask for the page with an example."""
        return self.ask("GET", f"{PAGES}?dataset=support")

    def submit_page(self) -> float:
        """Submit on the page, which answers with the next example."""
        slot = (self.response.headers["HX-Push-Url"] or "").partition("?")[0]
        return self.ask("POST", f"{slot}submit/", urlencode(ENTERED))

    def by_rest(self, labels: int) -> Times:
        """Claim and submit so many."""
        self.enter_by_token()
        taken = [self.next_and_submit() for _ in range(labels)]
        return {"next": [each for each, _ in taken], "submit": [each for _, each in taken]}

    def by_page(self, labels: int) -> Times:
        """Submit so many on the page."""
        self.enter_by_session()
        self.first_page()
        return {"submit": [self.submit_page() for _ in range(labels)]}


def _label(number: str, way: str, port: str, labels: str) -> Any:
    """Submit so many labels one way, as the labeller of a number."""
    labeller = Labeller(int(number), int(port))
    label = {"REST": labeller.by_rest, "page": labeller.by_page}[way]
    return label(int(labels))


if __name__ == "__main__":
    do_step(_prepare, _label)
