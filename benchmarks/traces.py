"""Measures traces: the spans of one sender in process, summing them up, and the pages at a million spans.

Batches have 512 spans of about 1.3 KB. `--size` is another number of spans that stand behind the pages.
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

SPANS = 1_000_000
BATCHES, PER_BATCH, PER_TRACE, ROUNDS = 40, 512, 16, 40
# Spans a second of one sender, and milliseconds of a batch and of a page on the server.
RATE = {"PostgreSQL": 2_000, "SQLite": 300}
BATCH, PAGE = 50, 100
START, STARTED = 1_795_000_000_000_000_000, 1_700_000_000
# Rows of traces as they are summed up: ids in the order of time, texts of ordinary words, one trace in 50,000 rare.
TRACES = """
INSERT INTO traces_trace (id, project_id, trace_id, arrivals, spans, size, has_root, created_at, received_at, settled,
  name, started_at, duration_ms, model, agent, agent_version, session, end_user, input_tokens, output_tokens, calls,
  failed_calls, tools, error_classes, error, request, text)
SELECT (lpad(to_hex(1700000000000 + n * 1000), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid, %s,
  md5(n::text)::uuid, 1, 16, 50000, true, now(), now(), 1, 'shop', to_timestamp(1700000000 + n), 4000 + n %% 977,
  'small-1', 'shop', '1.' || n / 100000, 's-' || n / 3, 'u-' || n %% 5000, 900, 80, 7, (n %% 20 = 0)::int, '["tool_0"]',
  '[]', '', 'Where is my order?', ' shop where is my order number ' || n || ' it was '
  || (CASE WHEN n %% 50000 = 77 THEN 'zebra ' ELSE 'shipped ' END)
  || (SELECT string_agg('word' || ((n %% 997) * k * 31) %% 5003, ' ') FROM generate_series(1, 40) k)
FROM generate_series(1, %s) n"""
USES = """
INSERT INTO traces_tooluse (trace_id, project_id, span_id, number, tool, came_at, duration_ms, error_class,
  arguments_fit, problem, agent, agent_version)
SELECT id, project_id, 'abcdefabcdefabcd', k, CASE WHEN n %% 50000 = 77 AND k = 1 THEN 'tool_rare'
  ELSE 'tool_' || k %% 5 END,
  started_at, 5 + (n * 31 + k * 17) %% 900, CASE WHEN n %% 20 = 0 AND k = 3 THEN '5xx' ELSE '' END, true, '', 'shop',
  agent_version
FROM (SELECT *, row_number() OVER (ORDER BY id) AS n FROM traces_trace WHERE project_id = %s) t,
  generate_series(1, 7) k"""
PAGES = {
    "list": "?", "list of a tool": "?tool=tool_1", "list of a rare tool": "?tool=tool_rare",
    "list of an error": "?error=5xx", "list of a word": "?q=shipped", "list of a rare word": "?q=zebra",
    "list of no word": "?q=unicorn", "list of no latency": "?min_ms=9999", "list of a user": "?user=u-77",
    "tools, 7 days": "tools/?", "costs, 7 days": "costs/?",
}  # fmt: skip


def rows() -> Iterator[Row]:
    """Measure on the databases; pages on PostgreSQL."""
    for database in databases():
        with installation(database) as environment:
            found = step("traces", environment, str(size(SPANS) if database == "PostgreSQL" else 0))
        target = BATCH if database == "PostgreSQL" else None
        for name in ("spans of one sender", "spans, processor time"):
            yield Row(f"{database}: {name}", found.pop(name), "spans/s", target=RATE[database])
        for name in ("p95 of a batch", "p95 of a batch that was stored before"):
            yield Row(f"{database}: {name}", found.pop(name), "ms", target=target, better="lower")
        name = "summing a trace up, processor time"
        yield Row(f"{database}: {name}", found.pop(name), "ms/trace", better="lower")
        for name, value in found.items():
            yield Row(f"{database}: {name}, p95", value, "ms", target=PAGE, better="lower")


def intake(project: Any, person: Any) -> dict[str, float]:
    """Return the rate of one sender, what a batch takes, and what the summing up takes."""
    from django.conf import settings
    from django.db.models import Sum
    from django.test import Client

    from toolevals.traces.models import Trace
    from toolevals.traces.services import traces_settle
    from toolevals.workspace.models import Role, TokenScope
    from toolevals.workspace.services import token_create

    # What is measured is one sender that does not stop: no rate is to be kept.
    settings.TRACES_SPANS_PER_SECOND, settings.TRACES_QUIET_SECONDS = 10**9, 0
    _, token = token_create(
        project=project, actor=None, user=person, name="bench", role=Role.VIEWER, scope=TokenScope.TRACES
    )
    chance, client, header = Random(7), Client(SERVER_NAME="localhost"), {"Authorization": f"Bearer {token}"}
    bodies = [batch(chance) for _ in range(BATCHES)]

    def send(body: bytes) -> None:
        answer = client.post("/v1/traces", body, content_type="application/x-protobuf", headers=header)
        assert (answer.status_code, answer.content) == (200, b"")

    send(batch(Random(1)))
    before = time.process_time()
    times = _each(send, bodies)
    processor = time.process_time() - before
    again = _each(send, bodies[:10])
    assert Trace.objects.aggregate(n=Sum("spans"))["n"] == PER_BATCH * (BATCHES + 1)
    before = time.process_time()
    while Trace.objects.exclude(due_at=None).exists():
        traces_settle(seconds=60)
    settled = time.process_time() - before
    return {
        "spans of one sender": PER_BATCH * BATCHES / sum(times),
        "spans, processor time": PER_BATCH * BATCHES / processor,
        "p95 of a batch": p95(times),
        "p95 of a batch that was stored before": p95(again),
        "summing a trace up, processor time": 1000 * settled / Trace.objects.count(),
    }


def _each(act: Callable[[bytes], None], bodies: list[bytes]) -> list[float]:
    return [timed(lambda body=body: act(body)) for body in bodies]  # type: ignore[misc]


def pages(project: Any, person: Any, spans: int) -> dict[str, float]:
    """Return what pages take when there are many traces, in milliseconds."""
    from django.db import connection
    from django.test import Client

    from toolevals.traces.models import ToolUse, Trace
    from toolevals.workspace.bulk import tables_analyze

    Trace.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute(TRACES, [project.pk, spans // PER_TRACE])
        cursor.execute(USES, [project.pk])
        tables_analyze(Trace, ToolUse)
        # The daemon of PostgreSQL does it soon after so many rows.
        cursor.execute("VACUUM traces_trace, traces_tooluse, traces_tracehour")
    _hours_count(project)
    client = Client(SERVER_NAME="localhost")
    client.force_login(person)
    since, until = (_day(STARTED + spans // PER_TRACE - days * 86400) for days in (6, 0))
    found = {}
    for name, path in PAGES.items():
        asked = f"/p/bench/traces/{path}" + (f"since={since}&until={until}" if "days" in name else "")

        def ask(path: str = asked) -> None:
            assert client.get(path).status_code == 200

        ask()
        found[name] = p95([timed(ask) for _ in range(ROUNDS)])
    return found


def _day(moment: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(moment))


def _hours_count(project: Any) -> None:
    """Count the hours of the traces, as the regular duty does when they are over. Batches came in the present one."""
    from datetime import timedelta

    from django.db import transaction
    from django.utils import timezone

    from toolevals.traces.models import Trace, TraceHour
    from toolevals.traces.services.trace_hours import trace_hours_count, trace_hours_reopen

    with transaction.atomic():
        trace_hours_reopen(project.pk, Trace.objects.datetimes("started_at", "hour"))
    while TraceHour.objects.filter(calls=None).exists():
        trace_hours_count(timezone.now() + timedelta(hours=2))


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
    found = intake(made, someone)
    if spans := int(sys.argv[1]):
        found |= pages(made, someone, spans)
    sys.stdout.write(json.dumps(found))
