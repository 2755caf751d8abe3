"""Send batches of spans at a rate to an application whose web server and workers are killed meanwhile.

`python -m benchmarks._traces_load token|state` is run inside the installation and prints JSON.
"""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from benchmarks._traces_batches import SPANS, batch
from scripts.dev.environment import ROOT
from toolevals.serving.application import Application

SENDERS = 4
# After a kill, seconds whose batches do not count.
AFTER_KILL = 5.0
# Shares of the time at which the web server, the worker, and both are killed.
KILLS = ((0.25, True, False), (0.5, False, True), (0.75, True, True))
PATIENCE, PAUSE = 120.0, 0.1
AGAIN = 5


@dataclass(frozen=True, slots=True)
class Sent:
    """One batch: when it was first sent, and the seconds until it was acknowledged."""

    at: float
    seconds: float


class Load:
    """Some batches at a rate of spans a second, each sent until it is acknowledged, as exporters do."""

    def __init__(self, application: Application, *, rate: int, seconds: float) -> None:
        self.application = application
        self.token = json.loads(_inside(application, "token"))
        self.rate, self.seconds = rate, seconds
        chance = Random(11)
        self.bodies = [batch(chance) for _ in range(round(rate * seconds / SPANS))]
        self.kills: list[float] = []
        self.sent: list[Sent] = []
        self.failures: list[BaseException] = []

    def run(self) -> None:
        """Send all, and kill meanwhile. Raises what a sender raised."""
        start = time.monotonic()
        senders = [threading.Thread(target=self._send_some, args=(start, first)) for first in range(SENDERS)]
        for each in senders:
            each.start()
        for share, web, worker in KILLS:
            time.sleep(max(0.0, start + share * self.seconds - time.monotonic()))
            self.kills.append(time.monotonic())
            if web:
                self.application.web_kill()
                self.application.web_start()
            if worker:
                self.application.restart("worker")
        for each in senders:
            each.join()
        if self.failures:
            raise self.failures[0]

    def again(self) -> None:
        """Send some batches five times more."""
        for body in self.bodies[:AGAIN] * AGAIN:
            self._send(None, body)

    @property
    def calm(self) -> Sequence[float]:
        """The seconds of the batches that were not sent just after a kill."""
        return [each.seconds for each in self.sent if not any(0 <= each.at - at < AFTER_KILL for at in self.kills)]

    def state(self) -> dict[str, int]:
        """Return what is stored."""
        found: dict[str, int] = json.loads(_inside(self.application, "state"))
        return found

    def _send_some(self, start: float, first: int) -> None:
        connection: http.client.HTTPConnection | None = None
        try:
            for number in range(first, len(self.bodies), SENDERS):
                time.sleep(max(0.0, start + number * SPANS / self.rate - time.monotonic()))
                at = time.monotonic()
                connection = self._send(connection, self.bodies[number])
                self.sent.append(Sent(at, time.monotonic() - at))
        except BaseException as error:  # noqa: BLE001 - it is told by the thread that waits
            self.failures.append(error)

    def _send(self, connection: http.client.HTTPConnection | None, body: bytes) -> http.client.HTTPConnection:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/x-protobuf"}
        end = time.monotonic() + PATIENCE
        while True:
            made = connection or http.client.HTTPConnection("127.0.0.1", self.application.port, timeout=30)
            try:
                made.request("POST", "/v1/traces", body, headers)
                answer = made.getresponse()
                said = answer.read()
            except (OSError, http.client.HTTPException):
                made.close()
                connection, status = None, 0
            else:
                connection, status = made, answer.status
                if status == http.HTTPStatus.OK:
                    if said:
                        raise AssertionError(f"spans were rejected: {said!r}")
                    return made
            if status not in (0, 429, 503) or time.monotonic() > end:
                raise AssertionError(f"a batch was answered by {status}")
            time.sleep(PAUSE)


def _inside(application: Application, step: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks._traces_load", step],
        cwd=ROOT,
        env=application.environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return done.stdout


def _token() -> str:
    from benchmarks._traces_measure import people

    return people()[1]


def _state() -> dict[str, int]:
    from django.db.models import Sum

    from toolevals.traces.chunks import spans_of
    from toolevals.traces.models import SpanChunk, Trace
    from toolevals.traces.models.spans import keys_split

    chunks = SpanChunk.objects.values_list("keys", flat=True).iterator()
    return {
        "keys": sum(len(keys_split(keys)) for keys in chunks),
        "noted": Trace.objects.aggregate(n=Sum("spans"))["n"] or 0,
        "stored": sum(len(spans_of(each)) for each in Trace.objects.iterator()),
        "open": Trace.objects.exclude(due_at=None).count(),
    }


def main(step: str) -> Any:
    """Return what a step finds."""
    import django

    django.setup()
    return _token() if step == "token" else _state()


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1])))
