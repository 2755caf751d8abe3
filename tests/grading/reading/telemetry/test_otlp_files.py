"""Files of a collector hold spans and log records, in JSON or protobuf: each record is an event of its span."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.grading.reading.parsing.made import conversation as the
from toolevals.grading.files.evaluation_files.entry import Entry
from toolevals.grading.files.evaluation_files.reading import evaluation_file
from toolevals.grading.reading.telemetry.otlp_protobuf import exports_in
from toolevals.grading.values.problems import InvalidDocument

MADE = json.loads((Path(__file__).parent / "made" / "logs" / "openai_v2.json").read_text("utf-8"))
SPANS: list[dict[str, Any]] = MADE["exports"]
LOGS: list[dict[str, Any]] = MADE["logs"]
IDS = ("traceId", "spanId", "parentSpanId")


def lines(documents: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in documents)


def one_document() -> bytes:
    both = {name: [each for one in some for each in one[name]] for name, some in HELD}
    return json.dumps(both).encode()


HELD = (("resourceSpans", SPANS), ("resourceLogs", LOGS))


def message(document: dict[str, Any]) -> bytes:
    """Return an export as the message that exporters send."""
    kind: Any = ExportLogsServiceRequest() if "resourceLogs" in document else ExportTraceServiceRequest()
    return bytes(json_format.ParseDict(_with_bytes(document), kind).SerializeToString())


def _with_bytes(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_bytes(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: base64.b64encode(bytes.fromhex(each)).decode() if key in IDS else _with_bytes(each)
        for key, each in value.items()
    }


def messages(documents: list[dict[str, Any]]) -> bytes:
    """Return exports as a collector's file exporter writes them: each after its length."""
    packed = [message(each) for each in documents]
    return b"".join(len(each).to_bytes(4, "big") + each for each in packed)


FILES = {
    "lines, spans first": lines([*SPANS, *LOGS]),
    "lines, logs first": lines([*LOGS, *SPANS]),
    "one document with both": one_document(),
    "messages after their lengths": messages([*LOGS, *SPANS]),
    "packed with gzip": gzip.compress(messages([*SPANS, *LOGS])),
    "each sent twice": lines([*SPANS, *LOGS, *LOGS, *SPANS]),
}


@pytest.mark.parametrize("name", FILES)
def test_the_conversation_that_came_in_log_records_is_read(name):
    file = evaluation_file(FILES[name])
    assert file.detected.format.name == "otlp"
    found = [each for _, each in file.entries()]
    assert [type(each) for each in found] == [Entry, Entry]
    first, second = (each.trial for each in found if isinstance(each, Entry))
    assert first is not None
    assert second is not None
    assert (first.transcript.answer, second.transcript.answer) == tuple(the.ANSWERS)
    assert [call.name for call in first.transcript.calls] == ["get_order", "get_stock"]
    assert the.FIRST in json.dumps([each.example.input for each in found if isinstance(each, Entry) and each.example])


def test_one_message_is_read_as_it_is_sent():
    (spans,) = evaluation_file(message(SPANS[0])).document.value["resourceSpans"]
    assert spans["scopeSpans"][0]["spans"][0]["traceId"] == _first_span(SPANS[0])["traceId"]
    (records,) = exports_in(message(LOGS[0]))
    assert "resourceLogs" in records


def _first_span(document: dict[str, Any]) -> dict[str, Any]:
    span: dict[str, Any] = document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    return span


def test_records_without_any_span_are_refused():
    ((place, wrong),) = evaluation_file(lines(LOGS)).entries()
    assert isinstance(wrong, InvalidDocument)
    assert "is a log record without a span" in str(wrong)
    assert place.line == 1


def test_records_of_other_programs_are_counted_and_left_out():
    other = {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": "started"}}]}]}]}
    elsewhere = json.loads(json.dumps(LOGS[0]).replace(_first_record(LOGS[0])["spanId"], "f" * 16))
    found = [each for _, each in evaluation_file(lines([*SPANS, *LOGS, other, elsewhere])).entries()]
    assert [type(each) for each in found] == [Entry, Entry]
    losses = [loss.message for each in found if isinstance(each, Entry) for loss in each.losses]
    (words,) = (each for each in losses if "without a span" in each)
    assert words.startswith(f"{len(elsewhere_records(elsewhere)) + 1} log records without a span in the file")


def _first_record(document: dict[str, Any]) -> dict[str, Any]:
    record: dict[str, Any] = document["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]
    return record


def elsewhere_records(document: dict[str, Any]) -> list[dict[str, Any]]:
    found = document["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    return [each for each in found if each["spanId"] == "f" * 16]


def test_a_record_that_cannot_be_read_is_named_with_its_place():
    broken = json.loads(json.dumps(LOGS[0]))
    broken["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]["traceId"] = "7"
    found = [each for _, each in evaluation_file(lines([*SPANS, broken, *LOGS])).entries()]
    (wrong,) = (each for each in found if isinstance(each, InvalidDocument))
    assert "/resourceLogs/0/scopeLogs/0/logRecords/0/traceId" in str(wrong)
    assert len(found) == 3


@pytest.mark.parametrize(
    "content",
    [
        messages(SPANS)[:-3],
        messages(SPANS) + b"\0\0",
        b"\0\0\0\5hello",
        b"\xff\xfe\x00\x01" * 50,
        message(SPANS[0])[:-1],
    ],
)
def test_bytes_that_are_no_messages_are_refused(content):
    with pytest.raises(InvalidDocument):
        evaluation_file(content)
