"""Web server and workers are killed while batches come: what was acknowledged is there, and nothing is there twice."""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request
from http.client import HTTPException
from typing import Any

import pytest

from tests.fixtures.application import WORKER
from tests.traces.sending import conversation, export
from tests.traces.test_real_exporter import SETUP

pytestmark = [pytest.mark.servers, pytest.mark.once]

BATCHES, PER_BATCH = 24, 5
STATE = """
import json
from django.db.models import Sum
from toolevals.traces.chunks import spans_of
from toolevals.traces.models import Span, ToolUse, Trace
print(json.dumps({
    "traces": Trace.objects.count(),
    "keys": Span.objects.count(),
    "noted": Trace.objects.aggregate(n=Sum("spans"))["n"],
    "stored": sum(len(spans_of(each)) for each in Trace.objects.all()),
    "open": Trace.objects.exclude(due_at=None).count(),
    "uses": ToolUse.objects.count(),
}))
"""
# What a killed worker had just taken is held for two minutes. For the traces they are over.
TIME_PASSES = """
from django.utils import timezone
from toolevals.traces.models import Trace
Trace.objects.exclude(due_at=None).update(due_at=timezone.now())
"""


def body(number: int) -> bytes:
    spans = [span for each in range(PER_BATCH) for span in conversation(f"{number * PER_BATCH + each + 1:032x}")]
    return json.dumps(export(*spans)).encode()


def sent(url: str, token: str, number: int) -> None:
    """Send a batch until it is acknowledged, as exporters do."""
    headers = {"Authorization": token, "Content-Type": "application/json"}
    end = time.monotonic() + 120
    while True:
        request = urllib.request.Request(f"{url}/v1/traces", body(number), headers)
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


def test_nothing_acknowledged_is_lost_and_nothing_is_stored_twice(live_app_start):
    app = live_app_start(TRACES_QUIET_SECONDS="0")
    token = f"Bearer {app.python(SETUP).strip()}"
    acknowledged: list[int] = []

    def send_some(first: int) -> None:
        for number in range(first, BATCHES, 3):
            sent(app.url, token, number)
            acknowledged.append(number)

    senders = [threading.Thread(target=send_some, args=(first,)) for first in range(3)]
    for each in senders:
        each.start()
    for share in (0.2, 0.5):
        while len(acknowledged) < BATCHES * share:
            time.sleep(0.01)
        app.application.web_kill()
        app.application.web_start()
        # Ends it as a crash would, and starts another.
        app.application.restart(WORKER)
    for each in senders:
        each.join()
    assert sorted(acknowledged) == list(range(BATCHES))
    for number in (0, 1, 2):
        sent(app.url, token, number)
    traces = BATCHES * PER_BATCH
    wanted: dict[str, Any] = {
        "traces": traces, "keys": traces * 4, "noted": traces * 4, "stored": traces * 4, "open": 0, "uses": traces,
    }  # fmt: skip
    app.python(TIME_PASSES)
    end = time.monotonic() + 120
    while (state := json.loads(app.python(STATE))) != wanted and time.monotonic() < end:
        time.sleep(0.5)
    assert state == wanted
