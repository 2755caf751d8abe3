"""Holds that what several store or sum up at once is stored and summed up once."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from tests.traces.sending import conversation, export, packed, stored_keys
from toolevals.traces.intake.encodings import message_of
from toolevals.traces.intake.services import spans_store
from toolevals.traces.intake.sorting import sorted_messages, sorted_spans
from toolevals.traces.models import ToolUse, Trace
from toolevals.traces.reading.chunks import spans_of
from toolevals.traces.reading.services import traces_settle, traces_take
from toolevals.workspace.clock import database_now

pytestmark = pytest.mark.django_db(transaction=True)
TRACES, SENDERS = 6, 4


def at_once(*work: Callable[[], Any]) -> list[Any]:
    """Do each in a thread of its own, all from the same moment on; return what each returns."""
    start = threading.Barrier(len(work))
    found: list[Any] = [None] * len(work)

    def do(number: int) -> None:
        start.wait()
        try:
            found[number] = work[number]()
        finally:
            connection.close()

    threads = [threading.Thread(target=do, args=(number,)) for number in range(len(work))]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return found


@pytest.mark.parametrize("form", ["json", "protobuf", "both"])
def test_the_same_spans_from_several_senders_are_stored_once(project, form):
    spans = [span for number in range(1, TRACES + 1) for span in conversation(f"{number:032x}")]

    def sender(number: int) -> Callable[[], int]:
        # Each sends the spans in another order, half of them in a batch of their own.
        mine = spans[number:] + spans[:number]
        halves = [export(*mine[::2]), export(*mine[1::2])]
        is_packed = form == "protobuf" or (form == "both" and number % 2 == 0)

        def send() -> int:
            batches = [
                sorted_messages(message_of(packed(each))) if is_packed else sorted_spans(json.loads(json.dumps(each)))
                for each in halves
            ]
            return sum(spans_store(project=project, traces=each.traces).spans for each in batches)

        return send

    stored = at_once(*map(sender, range(SENDERS)))
    assert sum(stored) == len(spans) == len(stored_keys())
    for trace in Trace.objects.all():
        ids = [each.span_id for each in spans_of(trace)]
        assert len(ids) == len(set(ids)) == trace.spans == len(conversation())


def test_each_trace_is_taken_by_one_worker(project):
    taken_of: list[list[Trace]] = []
    for number in range(1, 31):
        spans_store(project=project, traces=sorted_spans(export(*conversation(f"{number:032x}"))).traces)
    now = database_now()
    Trace.objects.update(due_at=now)
    while some := [each for each in at_once(*[lambda: traces_take(now)] * SENDERS) if each]:
        taken_of += some
    taken = [trace.pk for some in taken_of for trace in some]
    assert len(taken) == len(set(taken)) == 30
    assert max(map(len, taken_of)) < 30


def test_workers_that_sum_up_together_count_each_call_once(project):
    for number in range(1, 31):
        spans_store(project=project, traces=sorted_spans(export(*conversation(f"{number:032x}"))).traces)
    Trace.objects.update(due_at=database_now())
    at_once(*[lambda: traces_settle(seconds=20)] * SENDERS)
    assert not Trace.objects.exclude(due_at=None).exists()
    assert Trace.objects.filter(settled=1).count() == 30
    assert ToolUse.objects.count() == sum(each.calls for each in Trace.objects.all()) > 0
