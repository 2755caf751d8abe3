"""Log records join their spans: what real instrumentation sends, in any order, once, and nothing of it is lost."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse

from tests.grading.reading.parsing.made import conversation as the
from tests.traces.sending import JSON, PROTOBUF, TRACE, conversation, export, send, span, stored_keys, value_of
from toolevals.traces.intake.scrubbing import ScrubRule
from toolevals.traces.intake.services import trace_settings_update
from toolevals.traces.models import SpanChunk, Trace
from toolevals.traces.reading.services import traces_settle

URL = "/v1/logs"
MADE = Path(__file__).parents[1] / "grading" / "reading" / "telemetry" / "made" / "logs"


@pytest.fixture(autouse=True)
def at_once(settings: Any) -> None:
    settings.TRACES_QUIET_SECONDS = settings.TRACES_ROOTLESS_SECONDS = 0


def record(name: str, said: Any, *, trace: str = TRACE, of: int = 2, at: int = 1, **more: Any) -> dict[str, Any]:
    """Return a log record of OTLP's JSON, of the span with this number; its body is an object of texts."""
    pairs = [{"key": key, "value": value_of(value)} for key, value in said.items()]
    return {
        "traceId": trace,
        "spanId": f"{of:016x}",
        "timeUnixNano": str(at),
        "eventName": name,
        "body": {"kvlistValue": {"values": pairs}},
        **more,
    }


def logs(*records: Mapping[str, Any]) -> dict[str, Any]:
    scope = {"scope": {"name": "shop"}, "logRecords": list(records)}
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop-agent"}}]}
    return {"resourceLogs": [{"resource": resource, "scopeLogs": [scope]}]}


def packed(document: Mapping[str, Any]) -> bytes:
    """Return an export of logs in protobuf."""
    turned = json.loads(json.dumps(document))
    for resource in turned["resourceLogs"]:
        for scope in resource["scopeLogs"]:
            for each in scope["logRecords"]:
                each |= {key: base64.b64encode(bytes.fromhex(each[key])).decode() for key in ("traceId", "spanId")}
    return bytes(json_format.ParseDict(turned, ExportLogsServiceRequest()).SerializeToString())


def post(client: Any, token: str, body: bytes, kind: str = JSON, **headers: str) -> Any:
    return client.post(URL, body, content_type=kind, headers={"Authorization": token, **headers})


def send_logs(client: Any, token: str, document: Mapping[str, Any]) -> dict[str, Any]:
    answer = post(client, token, json.dumps(document).encode())
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def detail(client: Any, viewer: Any, trace: Trace) -> dict[str, Any]:
    client.force_login(viewer)
    found: dict[str, Any] = client.get(f"/api/v1/projects/shop/traces/{trace.pk}/").json()
    client.logout()
    return found


@pytest.mark.parametrize("logs_first", [True, False])
@pytest.mark.parametrize("name", ["openai_v2", "openai_v2_details"])
def test_the_real_librarys_messages_are_the_conversation(client, project, token, viewer, name, logs_first):
    made = json.loads((MADE / f"{name}.json").read_text("utf-8"))
    batches: list[tuple[Any, Any]] = [(send, each) for each in made["exports"]]
    batches += [(send_logs, each) for each in made["logs"]]
    for sends, each in reversed(batches) if logs_first else batches:
        sends(client, token, each)
        if not logs_first:
            # It is summed up without what comes later, and again with it.
            traces_settle()
    traces_settle()
    first, second = Trace.objects.order_by("started_at")
    said = detail(client, viewer, first)["conversation"]["messages"]
    assert [each["role"] for each in said] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert (said[0]["content"], said[1]["content"]) == (the.SYSTEM, the.FIRST)
    assert said[-1]["content"] == the.ANSWERS[0]
    assert (first.tools, first.calls) == (["get_order", "get_stock"], 2)
    assert first.request == the.FIRST
    assert second.request != ""
    whole = detail(client, viewer, second)
    assert whole["conversation"]["messages"][-1]["content"] == the.ANSWERS[1]
    assert whole["lone_records"] == []


def test_the_same_record_in_either_encoding_is_one(client, project, token):
    send(client, token, export(*conversation()))
    document = logs(record("gen_ai.user.message", {"content": "Hello"}), record("shop.note", {"word": "x"}, of=3))
    bodies: tuple[tuple[bytes, str, dict[str, str]], ...] = (
        (json.dumps(document).encode(), JSON, {}),
        (packed(document), PROTOBUF, {}),
        (gzip.compress(packed(document)), PROTOBUF, {"Content-Encoding": "gzip"}),
    )
    for body, kind, headers in bodies:
        answer = post(client, token, body, kind, **headers)
        assert answer.status_code == 200
        assert answer.content in (b"{}", b"")
    trace = Trace.objects.get()
    assert (trace.spans, len(stored_keys()), trace.arrivals) == (4, 6, 2)
    assert SpanChunk.objects.count() == 2


def test_records_without_ids_are_refused_with_words_and_the_others_stored(client, project, token):
    good = record("gen_ai.user.message", {"content": "Hello"})
    document = logs({**good, "traceId": ""}, {key: good[key] for key in good if key != "spanId"}, good)
    partial = send_logs(client, token, document)["partialSuccess"]
    assert partial["rejectedLogRecords"] == "2"
    assert "/resourceLogs/0/scopeLogs/0/logRecords/0/traceId is missing" in partial["errorMessage"]
    assert "logRecords/1/spanId is missing" in partial["errorMessage"]
    assert len(stored_keys()) == 1
    turned = logs(good)
    turned["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]["traceId"] = ""
    answer = ExportLogsServiceResponse.FromString(post(client, token, packed(turned), PROTOBUF).content)
    assert answer.partial_success.rejected_log_records == 1


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{", JSON, 400),
        (b"[]", JSON, 400),
        (b'{"resource_logs": []}', JSON, 400),
        (b'{"resourceLogs": 7}', JSON, 400),
        (b"\xff\xff", PROTOBUF, 400),
        (b"{}", "text/plain", 415),
    ],
)
def test_what_is_no_export_is_refused_in_otlps_form(client, project, token, body, kind, status):
    answer = post(client, token, body, kind)
    assert answer.status_code == status
    if kind == JSON:
        assert set(answer.json()) == {"code", "message"}


def test_limits_and_back_pressure_are_those_of_traces(client, project, token, settings):
    body = json.dumps(logs(record("x", {"content": "y" * 500}))).encode()
    settings.TRACES_MAX_BYTES = 300
    assert post(client, token, body).status_code == 413
    settings.TRACES_MAX_BYTES, settings.TRACES_AT_ONCE = 10_000, 0
    answer = post(client, token, body)
    assert (answer.status_code, answer["Retry-After"]) == (503, "1")


def test_who_may_not_send_traces_sends_no_logs(client, project, viewer):
    assert client.post(URL, b"{}", content_type=JSON).status_code == 401
    client.force_login(viewer)
    assert client.post(URL, b"{}", content_type=JSON).status_code == 401


def test_what_nobody_reads_is_kept_and_shown(client, project, token, viewer):
    note = record("shop.note", {"word": "x-ray"}, severityText="WARN")
    lone = record("gen_ai.user.message", {"content": "Of a span that never comes"}, of=77)
    send_logs(client, token, logs(note, lone))
    traces_settle()
    assert Trace.objects.get().spans == 0
    send(client, token, export(*conversation()))
    traces_settle()
    trace = Trace.objects.get()
    client.force_login(viewer)
    page = client.get(f"/p/shop/traces/{trace.pk}/").content.decode()
    assert "event shop.note" in page
    assert "Log records without a span" in page
    assert "Of a span that never comes" in page
    of_span = client.get(f"/p/shop/traces/{trace.pk}/spans/{2:016x}/").content.decode()
    assert "x-ray" in of_span
    assert "WARN" in of_span
    found = detail(client, viewer, trace)
    assert [each["span_id"] for each in found["lone_records"]] == [f"{77:016x}"]
    assert [each["name"] for one in found["spans"] for each in one["events"]] == ["shop.note"]


def test_a_trace_of_records_alone_is_listed_and_opens(client, project, token, viewer):
    send_logs(client, token, logs(record("gen_ai.user.message", {"content": "Hello"})))
    traces_settle()
    trace = Trace.objects.get()
    client.force_login(viewer)
    assert str(trace.pk) in client.get("/p/shop/traces/").content.decode()
    assert client.get(f"/p/shop/traces/{trace.pk}/").status_code == 200


def test_sampling_scrubbing_and_retention_hold_for_records(client, project, owner, token, viewer):
    rules = (ScrubRule("email"),)
    low, high = f"{1:032x}", f"{2**64 - 1:032x}"
    trace_settings_update(project=project, actor=owner, retention_days=1, sample_rate=0.5, rules=rules)
    said = [record("gen_ai.user.message", {"content": "I am ada@example.org"}, trace=each) for each in (low, high)]
    assert send_logs(client, token, logs(*said)) == {}
    trace = Trace.objects.get()
    assert trace.trace_id.hex == low
    send(client, token, export(span(2, "chat", trace=low, attributes={"gen_ai.operation.name": "chat"})))
    traces_settle()
    found = json.dumps(detail(client, viewer, trace))
    assert "[email]" in found
    assert "ada@example.org" not in found
    trace.delete()
    assert not SpanChunk.objects.exists()


def test_hostile_records_break_nothing(client, project, token, viewer):
    hostile = [
        record("<script>alert(1)</script>", {"content": "</pre><script>alert(2)</script>\0"}),
        record("", {}, body=None),
        record("gen_ai.choice", {"message": "no object", "tool_calls": "[["}),
        record("gen_ai.tool.message", {"id": 7, "content": 7}),
        record("big", {}, body={"intValue": "99999999999999999999"}),
        record("half", {}, body={"stringValue": "\ud800"}),
        record("deep", {}, body=nested(200)),
        record("kind", {}, body={"fooValue": 1}),
        record("time", {}, timeUnixNano="soon"),
    ]
    answer = post(client, token, json.dumps(logs(*hostile)).encode())
    assert answer.status_code in (200, 400)
    for each in hostile:
        assert post(client, token, json.dumps(logs(each)).encode()).status_code in (200, 400)
    send(client, token, export(*conversation()))
    traces_settle()
    trace = Trace.objects.get()
    client.force_login(viewer)
    for path in (f"/p/shop/traces/{trace.pk}/", f"/p/shop/traces/{trace.pk}/spans/{2:016x}/"):
        answer = client.get(path)
        assert answer.status_code == 200
        assert b"<script>alert" not in answer.content


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {"stringValue": "x"}
    for _ in range(depth):
        value = {"arrayValue": {"values": [value]}}
    return value
