"""Measures what a traced call of a tool costs its caller, without export, next to a bare span of OpenTelemetry's SDK.

Processor time of the calling thread alone, the best of several rounds, because other work on the machine only adds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from benchmarks.row import Row
from toolevals.sdk import instrument, tool
from toolevals.sdk.sending import SpanQueue

CALLS, ROUNDS = 2_000, 9
# Microseconds.
TARGET = 50


@tool
def get_order(order_id: str, *, fresh: bool = False) -> dict[str, str]:
    """Return an order."""
    return {"id": order_id, "state": "sent"}


def rows() -> Iterator[Row]:
    """Measure a tool that is traced into a queue, and one where tracing is off."""
    # Room for every span of a round, and nothing sent before it ends.
    queue = SpanQueue(InMemorySpanExporter(), size=CALLS, delay=3_600)
    off = _best(_call, queue)
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(queue)
    tracer = provider.get_tracer("bare")
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_order"}

    def bare() -> None:
        with tracer.start_as_current_span("execute_tool get_order", attributes=attributes):
            _call()

    baseline = _best(bare, queue)
    tracing = instrument(provider=provider, send=False)
    try:
        traced = _best(_call, queue)
    finally:
        tracing.stop()
        queue.shutdown()
    yield Row("a call of a tool, traced", traced, "µs", baseline, TARGET, "lower")
    yield Row("a call of a tool, tracing off", off, "µs", better="lower")


def _call() -> None:
    get_order("A-1", fresh=True)


def _best(call: Callable[[], None], queue: SpanQueue) -> float:
    """Return the microseconds of a call in the best round."""
    found = []
    for _ in range(ROUNDS):
        began = time.thread_time()
        for _ in range(CALLS):
            call()
        found.append((time.thread_time() - began) / CALLS * 1e6)
        queue.force_flush()
    return min(found)
