"""Takes verdicts of online rules along as events of OpenTelemetry and as CSV."""

from __future__ import annotations

import base64
import csv
import io
import json
from typing import Any

import pytest
from google.protobuf import json_format
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData

from tests.traces.promoting import promoted
from tests.traces.sending import TRACE, conversation, export, send
from toolevals.traces.models import SpanVerdict, Trace
from toolevals.traces.reading.services import traces_settle

LINES, ROWS, REST = (
    "/p/shop/traces/verdicts.jsonl",
    "/p/shop/traces/verdicts.csv",
    "/api/v1/projects/shop/traces/verdicts/",
)


@pytest.fixture
def judged(client, token, viewer, settings) -> Any:
    """Two traces, the first with a call whose arguments do not fit."""
    settings.TRACES_QUIET_SECONDS = 0
    send(client, token, export(*conversation(arguments={"nr": 7})))
    send(client, token, export(*conversation(f"{9:032x}")))
    traces_settle()
    client.force_login(viewer)
    return client


def lines(client, address: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in b"".join(client.get(address)).splitlines()]


def rows(client, address: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(b"".join(client.get(address)).decode("utf-8-sig"))))


def record(line: dict[str, Any], rule: str) -> dict[str, Any]:
    records = line["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    (found,) = [each for each in records if value(each, "gen_ai.evaluation.name") == rule]
    return dict(found)


def value(record: dict[str, Any], key: str) -> Any:
    return next((next(iter(each["value"].values())) for each in record["attributes"] if each["key"] == key), None)


def test_each_verdict_is_an_event_with_the_span_that_it_judges(judged):
    found = lines(judged, f"{LINES}?broke=schema")
    (line,) = found
    event = record(line, "schema")
    assert event["eventName"] == "gen_ai.evaluation.result"
    assert (event["traceId"], event["spanId"]) == (TRACE, f"{3:016x}")
    assert value(event, "gen_ai.evaluation.score.label") == "failed"
    assert value(event, "gen_ai.evaluation.score.value") == 0.0
    assert "required property" in value(event, "gen_ai.evaluation.explanation")
    passed = record(line, "shape")
    assert (value(passed, "gen_ai.evaluation.score.value"), value(passed, "gen_ai.evaluation.explanation")) == (1, None)
    assert found == lines(judged, f"{REST}?broke=schema")


def test_the_lines_are_otlp(judged):
    """The protocol's own reader takes each line; it reads ids as base64, so they are turned first."""
    count = 0
    for line in lines(judged, LINES):
        for each in line["resourceLogs"][0]["scopeLogs"][0]["logRecords"]:
            for key in ("traceId", "spanId"):
                each[key] = base64.b64encode(bytes.fromhex(each[key])).decode()
        read = json_format.ParseDict(line, LogsData())
        count += len(read.resource_logs[0].scope_logs[0].log_records)
        assert read.resource_logs[0].scope_logs[0].log_records[0].event_name == "gen_ai.evaluation.result"
    assert count == SpanVerdict.objects.count()


def test_the_file_says_the_same_and_its_ids_stay(judged, token):
    before = rows(judged, ROWS)
    assert len({row["verdict_id"] for row in before}) == len(before) == SpanVerdict.objects.count()
    failed = [(row["rule"], row["span_id"], row["value"]) for row in before if row["status"] == "failed"]
    assert ("schema", f"{3:016x}", "0.0") in failed
    Trace.objects.update(due_at="2026-01-01T00:00:00Z")
    traces_settle()
    assert [row["verdict_id"] for row in rows(judged, ROWS)] == [row["verdict_id"] for row in before]


def test_an_errored_rule_says_so(judged):
    SpanVerdict.objects.filter(rule="loops").update(status="errored", value=None, span_id="")
    event = record(lines(judged, LINES)[0], "loops")
    assert value(event, "error.type") == "_OTHER"
    assert value(event, "gen_ai.evaluation.score.value") is None
    assert "spanId" not in event


def test_a_filter_that_cannot_be_read_is_refused(judged):
    assert judged.get(f"{LINES}?since=soon").status_code == 400
    assert judged.get(f"{ROWS}?min_ms=long").status_code == 400
    assert judged.get(f"{REST}?since=soon").status_code == 422


def test_closed_traces_are_left_out_for_those_who_label(client, sent, dataset, owner, viewer, reviewer, run_jobs):
    promoted(run_jobs, dataset, owner, wanted={"session": "s-1"})
    closed, opened = sent[0].trace_id.hex, sent[-1].trace_id.hex
    for address in (LINES, REST):
        client.force_login(viewer)
        assert closed in str(lines(client, address))
        for person in (reviewer, owner):
            client.force_login(person)
            found = str(lines(client, address))
            assert closed not in found
            assert opened in found
    assert closed not in {row["otel_trace_id"] for row in rows(client, ROWS)}
