"""Web server and workers are killed while batches come: what was acknowledged is there, and nothing appears twice."""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from typing import Any

import pytest

from tests.fixtures.application import WORKER, Applications, LiveApp
from tests.fixtures.prepared import database_reset, prepared_folder
from tests.servers.databases import FILE
from tests.traces.sending import conversation, export
from tests.traces.test_logs import logs, record
from tests.traces.test_real_exporter import SETUP

pytestmark = [pytest.mark.servers, pytest.mark.once]

BATCHES, PER_BATCH, RECORDS = 24, 5, 4
STATE = """
import json
from django.db.models import Sum
from toolevals.traces.reading.chunks import read_chunks
from toolevals.traces.models import SpanChunk, ToolUse, Trace
from toolevals.traces.intake.models import keys_split
keys = [(each.trace_id, key) for each in SpanChunk.objects.all() for key in keys_split(each.keys)]
chunks = [read_chunks(each) for each in Trace.objects.all()]
print(json.dumps({
    "traces": Trace.objects.count(),
    "keys": len(keys),
    "twice": len(keys) - len(set(keys)),
    "noted": Trace.objects.aggregate(n=Sum("spans"))["n"],
    "stored": sum(len(each.spans) for each in chunks),
    "records": sum(len(each.lone) + sum(len(span.events) for span in each.spans) for each in chunks),
    "open": Trace.objects.exclude(due_at=None).count(),
    "uses": ToolUse.objects.count(),
}))
"""
# What a killed worker had just taken is held for two minutes. For the traces they are over.
TIME_PASSES = """
from toolevals.workspace.clock import database_now
from toolevals.traces.models import Trace
Trace.objects.exclude(due_at=None).update(due_at=database_now())
"""


def spans(number: int) -> dict[str, Any]:
    """Return a batch of whole conversations."""
    return export(*(each for trace in traces_of(number) for each in conversation(trace)))


def records(number: int) -> dict[str, Any]:
    """Return a batch of log records, four a conversation."""
    return logs(*(
        record("gen_ai.user.message", {"content": f"Where is order {at}?"}, trace=trace, of=2, at=at)
        for trace in traces_of(number)
        for at in range(1, RECORDS + 1)
    ))  # fmt: skip


def traces_of(number: int) -> list[str]:
    return [f"{number * PER_BATCH + each + 1:032x}" for each in range(PER_BATCH)]


def sent(url: str, token: str, document: dict[str, Any]) -> None:
    """Send a batch until it is acknowledged, as exporters do."""
    path = "logs" if "resourceLogs" in document else "traces"
    body = json.dumps(document).encode()
    headers = {"Authorization": token, "Content-Type": "application/json"}
    end = time.monotonic() + 120
    while True:
        request = urllib.request.Request(f"{url}/v1/{path}", body, headers)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                assert json.load(answer) == {}
                return
        except urllib.error.HTTPError as error:
            answered = f"{error.code} {error.read()!r}"
            again = error.code in (429, 503)
        except (OSError, HTTPException, json.JSONDecodeError) as error:
            answered, again = repr(error), True
        assert again, answered
        assert time.monotonic() < end, answered
        time.sleep(0.05)


# What is sent, how many spans that makes, and how many calls of tools.
SENT: dict[str, tuple[tuple[Callable[[int], dict[str, Any]], ...], int, int]] = {
    "spans": ((spans,), 4, 1),
    "log records and spans": ((records, spans), 4, 1),
}


@pytest.fixture(scope="module")
def started(live_app_start: Callable[..., LiveApp]) -> LiveApp:
    """An application that sums a trace up as soon as nothing new comes."""
    return live_app_start(loaded=False, TRACES_QUIET_SECONDS="0", TRACES_ROOTLESS_SECONDS="0")


@pytest.fixture
def app(started: LiveApp, applications: Applications) -> LiveApp:
    """The same with an empty database."""
    fresh = prepared_folder(applications.prepared, sample=False) / FILE
    assert database_reset(started.application.data / FILE, fresh)
    return started


@pytest.mark.parametrize("what", SENT)
def test_nothing_acknowledged_is_lost_and_nothing_is_stored_twice(app, what):
    batches, spans_of_each, calls = SENT[what]
    token = f"Bearer {app.python(SETUP).strip()}"
    acknowledged: list[int] = []

    def send_some(first: int) -> None:
        for number in range(first, BATCHES, 3):
            for batch in batches:
                sent(app.url, token, batch(number))
            acknowledged.append(number)

    senders = [threading.Thread(target=send_some, args=(first,)) for first in range(3)]
    for each in senders:
        each.start()
    _kill_twice(app, acknowledged)
    for each in senders:
        each.join()
    assert sorted(acknowledged) == list(range(BATCHES))
    for number in (0, 1, 2):
        for batch in batches:
            sent(app.url, token, batch(number))
    traces = BATCHES * PER_BATCH
    records_of_each = RECORDS if records in batches else 0
    wanted: dict[str, Any] = {
        "traces": traces,
        "keys": traces * (spans_of_each + records_of_each),
        "twice": 0,
        "noted": traces * spans_of_each,
        "stored": traces * spans_of_each,
        "records": traces * records_of_each,
        "open": 0,
        "uses": traces * calls,
    }
    app.python(TIME_PASSES)
    end = time.monotonic() + 120
    while (state := json.loads(app.python(STATE))) != wanted and time.monotonic() < end:
        time.sleep(0.5)
    assert state == wanted


def _kill_twice(app: LiveApp, acknowledged: list[int]) -> None:
    for share in (0.2, 0.5):
        while len(acknowledged) < BATCHES * share:
            time.sleep(0.01)
        app.application.web_kill()
        app.application.web_start()
        # Ends it as a crash would, and starts another.
        app.application.restart(WORKER)
