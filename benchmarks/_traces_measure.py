"""Measure traces in an installation of its own; print what was found as JSON. Run by `benchmarks.traces`."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from random import Random
from typing import Any

import django

BATCHES = int(os.environ.get("TRACES_BATCHES", "40"))
SPANS = int(os.environ.get("TRACES_SPANS", "1000000"))
ROUNDS = 40
PER_TRACE, CALLS = 16, 7
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

VERDICTS = """
INSERT INTO traces_spanverdict (trace_id, project_id, number, span_id, rule, version, status, reason)
SELECT id, project_id, k, 'abcdefabcdefabcd', CASE WHEN k = 0 THEN 'loops' ELSE 'schema' END, 1,
  CASE WHEN n %% 100 = 0 AND k < 2 THEN 'failed' WHEN n %% 7 = 0 THEN 'unscored' ELSE 'passed' END, ''
FROM (SELECT *, row_number() OVER (ORDER BY id) AS n FROM traces_trace WHERE project_id = %s) t,
  generate_series(0, 7) k"""


def main() -> None:
    """Measure, and print."""
    django.setup()
    from django.conf import settings
    from django.core.management import call_command

    # What is measured is one sender that does not stop: no rate is to be kept.
    settings.TRACES_SPANS_PER_SECOND = 10**9
    settings.TRACES_QUIET_SECONDS = 0
    settings.ALLOWED_HOSTS = ["testserver"]
    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    found = _intake()
    # What was measured so far is worth knowing where the rest fails.
    sys.stderr.write(json.dumps(found) + "\n")
    if sys.argv[1:] == ["lists"]:
        found |= _lists()
    sys.stdout.write(json.dumps(found))


def people() -> tuple[Any, str]:
    from toolevals.workspace.models import Role, TokenScope
    from toolevals.workspace.services import project_create, token_create, user_create

    owner = user_create(actor=None, email="bench@example.org", name="Bench")
    project = project_create(actor=owner, slug="bench", name="Bench")
    made = token_create(
        project=project, actor=None, user=owner, name="bench", role=Role.VIEWER, scope=TokenScope.TRACES
    )
    return project, made[1]


def _intake() -> dict[str, float]:
    """Return the rate of one sender, what a batch takes, and what the summing up takes."""
    from django.db import connection
    from django.db.models import Sum
    from django.test import Client

    from benchmarks._traces_batches import SPANS as PER_BATCH
    from benchmarks._traces_batches import batch
    from toolevals.garbage import search_seldom
    from toolevals.traces.models import Trace
    from toolevals.traces.services import traces_settle

    _, token = people()
    chance, client = Random(7), Client()
    bodies = [batch(chance) for _ in range(BATCHES)]
    header = {"Authorization": f"Bearer {token}"}

    def send(body: bytes) -> None:
        answer = client.post("/v1/traces", body, content_type="application/x-protobuf", headers=header)
        assert (answer.status_code, answer.content) == (200, b"")

    send(batch(Random(1)))
    # As the web server does once it is loaded.
    search_seldom()
    before = time.process_time()
    times = [_timed(lambda body=body: send(body)) for body in bodies]  # type: ignore[misc]
    cpu = time.process_time() - before
    again = [_timed(lambda body=body: send(body)) for body in bodies[:10]]  # type: ignore[misc]
    spans = Trace.objects.aggregate(n=Sum("spans"))["n"] or 0
    assert spans == PER_BATCH * (BATCHES + 1)
    traces, before = Trace.objects.count(), time.process_time()
    while Trace.objects.exclude(due_at=None).exists():
        traces_settle(seconds=60)
    settled = time.process_time() - before
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE raw_spans (body text)")
        raw = [_timed(lambda body=body: _raw(cursor, body)) for body in bodies]  # type: ignore[misc]
    return {
        "spans a second": PER_BATCH / (sum(times) / len(times)),
        "spans a second of processor time": PER_BATCH * BATCHES / cpu,
        "p95 of a batch": 1000 * _p95(times),
        "p95 of a batch that was stored before": 1000 * _p95(again),
        "summing up": 1000 * settled / traces,
        "raw p95": 1000 * _p95(raw),
        "raw spans a second": PER_BATCH / (sum(raw) / len(raw)),
    }


def _raw(cursor: Any, body: bytes) -> None:
    """Store what a batch holds in the simplest way: one text for each span, not read and not packed."""
    from google.protobuf.json_format import MessageToJson
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    spans = ExportTraceServiceRequest.FromString(body).resource_spans[0].scope_spans[0].spans
    cursor.executemany("INSERT INTO raw_spans VALUES (%s)", [(MessageToJson(span),) for span in spans])


def _lists() -> dict[str, float]:
    """Return what pages take when there are many traces, in milliseconds."""
    from django.db import connection
    from django.test import Client

    from toolevals.traces.models import SpanVerdict, ToolUse, Trace
    from toolevals.workspace.bulk import tables_analyze
    from toolevals.workspace.models import Project, User

    project = Project.objects.get()
    Trace.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute(TRACES, [project.pk, SPANS // PER_TRACE])
        cursor.execute(USES, [project.pk])
        cursor.execute(VERDICTS, [project.pk])
    tables_analyze(Trace, ToolUse, SpanVerdict)
    with connection.cursor() as cursor:
        # The daemon of PostgreSQL does it soon after so many rows.
        cursor.execute("VACUUM traces_trace, traces_tooluse, traces_spanverdict, traces_tracehour")
    _hours_count(project.pk)
    client = Client()
    client.force_login(User.objects.get())
    middle = Trace.objects.order_by("pk")[SPANS // PER_TRACE // 2].pk
    session = f"s-{SPANS // PER_TRACE // 9}"
    pages = {
        "list": "?", "list, in the middle": f"?before={middle}", "list of a tool": "?tool=tool_1",
        "list of a rare tool": "?tool=tool_rare", "list of an error": "?error=5xx",
        "list of a session": f"?session={session}",
        "list of a word": "?q=shipped", "list of a rare word": "?q=zebra", "list of no word": "?q=unicorn",
        "list by latency": "?min_ms=4970", "list of no latency": "?min_ms=9999", "list of a user": "?user=u-77",
        "list of an old version": "?version=1.0", "list of a tool and an error": "?tool=tool_1&error=5xx",
        "list of a rare and a common word": "?q=word+zebra",
    }  # fmt: skip
    found = {name: _page(client, f"/p/bench/traces/{query}") for name, query in pages.items()}
    last = 1700000000 + SPANS // PER_TRACE
    days = f"since={_day(last - 6 * 86400)}&until={_day(last)}"
    for name, page in {
        "tools in production": "tools/", "tools by version": "tools/?by=version", "costs in production": "costs/",
        "costs by day": "costs/?by=day", "online rules": "rules/",
    }.items():  # fmt: skip
        path = f"/p/bench/traces/{page}"
        found[f"{name}, 7 days"] = _page(client, f"{path}{'&' if '?' in path else '?'}{days}")
    with connection.cursor() as cursor:
        asked = "SELECT id, name FROM traces_trace WHERE project_id = %s ORDER BY id DESC LIMIT 51"
        found["raw page"] = 1000 * _p95([_timed(lambda: cursor.execute(asked, [project.pk])) for _ in range(ROUNDS)])
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
        trace_hours_reopen(project, Trace.objects.datetimes("started_at", "hour"))
    while TraceHour.objects.filter(calls=None).exists():
        trace_hours_count(timezone.now() + timedelta(hours=2))


def _page(client: Any, path: str) -> float:
    def ask() -> None:
        assert client.get(path).status_code == 200

    ask()
    return 1000 * _p95([_timed(ask) for _ in range(ROUNDS)])


def _timed(step: Callable[[], Any]) -> float:
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def _p95(times: list[float]) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * 0.95))]


if __name__ == "__main__":
    main()
