"""Measures traces: the spans of one sender in process, and summing them up. Batches have 512 spans of about 1.3 KB.

`--size` is the number of batches.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from benchmarks._measuring import databases, installation, p95, prepared, size, step, timed
from benchmarks.row import Row

PER_BATCH, PER_TRACE = 512, 16
# Spans a second of one sender, and milliseconds of a batch on the server.
RATE = {"PostgreSQL": 2_000, "SQLite": 300}
BATCH = 50
START = 1_795_000_000_000_000_000


def rows() -> Iterator[Row]:
    """Measure on the databases."""
    for database in databases():
        with installation(database) as environment:
            found = step("traces", environment, str(size(40)))
        target = BATCH if database == "PostgreSQL" else None
        for name in ("spans of one sender", "spans, processor time"):
            yield Row(f"{database}: {name}", found[name], "spans/s", target=RATE[database])
        for name in ("p95 of a batch", "p95 of a batch that was stored before"):
            yield Row(f"{database}: {name}", found[name], "ms", target=target, better="lower")
        name = "summing a trace up, processor time"
        yield Row(f"{database}: {name}", found[name], "ms/trace", better="lower")


def intake(project: Any, person: Any, batches: int) -> dict[str, float]:
    """Return the rate of one sender, what a batch takes, and what the summing up takes."""
    from django.conf import settings
    from django.db.models import Sum
    from django.test import Client

    from toolevals.traces.models import Trace
    from toolevals.traces.reading.services import traces_settle
    from toolevals.workspace.models import Role, TokenScope
    from toolevals.workspace.tokens.services import token_create

    # What is measured is one sender that does not stop: no rate is to be kept.
    settings.TRACES_SPANS_PER_SECOND, settings.TRACES_QUIET_SECONDS = 10**9, 0
    _, token = token_create(
        project=project, actor=None, user=person, name="bench", role=Role.VIEWER, scope=TokenScope.TRACES
    )
    chance, client, header = Random(7), Client(SERVER_NAME="localhost"), {"Authorization": f"Bearer {token}"}
    bodies = [batch(chance) for _ in range(batches)]

    def send(body: bytes) -> None:
        answer = client.post("/v1/traces", body, content_type="application/x-protobuf", headers=header)
        assert (answer.status_code, answer.content) == (200, b"")

    send(batch(Random(1)))
    before = time.process_time()
    times = _each(send, bodies)
    processor = time.process_time() - before
    again = _each(send, bodies[:10])
    assert Trace.objects.aggregate(n=Sum("spans"))["n"] == PER_BATCH * (batches + 1)
    before = time.process_time()
    while Trace.objects.exclude(due_at=None).exists():
        traces_settle(seconds=60)
    settled = time.process_time() - before
    return {
        "spans of one sender": PER_BATCH * batches / sum(times),
        "spans, processor time": PER_BATCH * batches / processor,
        "p95 of a batch": p95(times),
        "p95 of a batch that was stored before": p95(again),
        "summing a trace up, processor time": 1000 * settled / Trace.objects.count(),
    }


def _each(act: Callable[[bytes], None], bodies: list[bytes]) -> list[float]:
    return [timed(lambda body=body: act(body)) for body in bodies]  # type: ignore[misc]


def batch(chance: Random) -> bytes:
    """Return a batch: the agent, then models and tools in turns, each model's call with all that was said before."""
    request = ExportTraceServiceRequest()
    resource_spans = request.resource_spans.add()
    _put(resource_spans.resource, {"service.name": "shop-agent"})
    scope_spans = resource_spans.scope_spans.add()
    scope_spans.scope.name = "bench"
    for number in range(PER_BATCH // PER_TRACE):
        _conversation(scope_spans, number, chance)
    return bytes(request.SerializeToString())


def _conversation(scope_spans: Any, number: int, chance: Random) -> None:
    trace, root, start = chance.randbytes(16), chance.randbytes(8), START + number * 10**9
    said: list[dict[str, Any]] = [
        {"role": "user", "parts": [{"type": "text", "content": f"Where is order {chance.randrange(10**6)}? " * 8}]}
    ]
    for place in range(PER_TRACE):
        span = scope_spans.spans.add()
        span.trace_id, span.span_id = trace, chance.randbytes(8) if place else root
        span.parent_span_id = root if place else b""
        span.start_time_unix_nano = start + place * 10**7
        span.end_time_unix_nano = span.start_time_unix_nano + chance.randrange(10**6, 10**8)
        if not place:
            span.name = "invoke_agent shop"
            _put(span, {
                "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "shop",
                "gen_ai.conversation.id": chance.randbytes(4).hex(),
            })  # fmt: skip
        elif place % 2:
            call = {"type": "tool_call", "id": f"c{place}", "name": f"tool_{place % 5}", "arguments": {"id": place}}
            made = {"role": "assistant", "parts": [call]}
            span.name = "chat small-1"
            _put(span, {
                "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "small-1",
                "gen_ai.input.messages": json.dumps(said), "gen_ai.output.messages": json.dumps([made]),
                "gen_ai.response.model": "small-1-2026", "gen_ai.response.id": chance.randbytes(8).hex(),
            })  # fmt: skip
            span.attributes.add(key="gen_ai.usage.input_tokens").value.int_value = 800
            span.attributes.add(key="gen_ai.usage.output_tokens").value.int_value = 40
            result = {"type": "tool_call_response", "id": f"c{place}", "response": f"Order {place} " + "x" * 200}
            said += [made, {"role": "tool", "parts": [result]}]
        else:
            span.name = f"execute_tool tool_{(place - 1) % 5}"
            _put(span, {
                "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": f"tool_{(place - 1) % 5}",
                "gen_ai.tool.call.id": f"c{place - 1}", "gen_ai.tool.call.arguments": json.dumps({"id": place - 1}),
                "gen_ai.tool.call.result": f"Order {place - 1} " + "x" * 200,
            })  # fmt: skip


def _put(holder: Any, values: dict[str, str]) -> None:
    for key, value in values.items():
        holder.attributes.add(key=key).value.string_value = value


if __name__ == "__main__":
    made, _, (someone, *_) = prepared()
    sys.stdout.write(json.dumps(intake(made, someone, int(sys.argv[1]))))
