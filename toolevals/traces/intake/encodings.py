"""OTLP's two encodings: both come in as the JSON form, and answers go out in the form that the request had.

Source: https://opentelemetry.io/docs/specs/otlp/. The generic reader of protobuf's JSON takes ids for base64, while
OTLP writes them in hexadecimal digits: so neither direction uses it.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from toolevals.grading.values.problems import InvalidDocument

PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"
CONTENT_TYPES: Final = (PROTOBUF, JSON)


@dataclass(frozen=True, slots=True)
class Signal:
    """Says what one address takes: names in OTLP's JSON for its export, from the outside in, and protobuf's messages.

    `rejected` is what counts the items that are not taken in an answer, in JSON's form and in protobuf's.
    """

    holders: str
    scopes: str
    items: str
    rejected: tuple[str, str]
    request: Any
    response: Any


def document_of(body: bytes, content_type: str, signal: Signal | None = None) -> dict[str, Any]:
    """Return an export as the JSON form of OTLP, of traces unless said otherwise.

    Raises InvalidDocument where the body is none.
    """
    read = _of_protobuf if content_type == PROTOBUF else _of_json
    return read(body, signal or TRACES)


def _of_json(body: bytes, signal: Signal) -> dict[str, Any]:
    try:
        document = orjson.loads(body)
    except ValueError as error:
        raise InvalidDocument.at("", f"The body cannot be read as JSON: {error}") from None
    if not isinstance(document, dict):
        raise InvalidDocument.at("", f"The body is not an object with {signal.holders}.")
    wrong = signal.holders.replace("S", "_s").replace("L", "_l")
    if wrong in document:
        raise InvalidDocument.at(f"/{wrong}", f"OTLP writes its keys in camel case in JSON: {signal.holders}.")
    return document


def _of_protobuf(body: bytes, signal: Signal) -> dict[str, Any]:
    message = signal.request()
    try:
        message.ParseFromString(body)
    except (DecodeError, RecursionError) as error:
        name = signal.request.DESCRIPTOR.name
        raise InvalidDocument.at("", f"The body cannot be read as an {name}: {error}") from None
    return _logs(message) if signal is LOGS else _traces(message)


def _traces(message: Any) -> dict[str, Any]:
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": _pairs(each.resource.attributes)},
                "schemaUrl": each.schema_url,
                "scopeSpans": [_scope_spans(scope_spans) for scope_spans in each.scope_spans],
            }
            for each in message.resource_spans
        ]
    }


def _logs(message: Any) -> dict[str, Any]:
    return {
        "resourceLogs": [
            {
                "resource": {"attributes": _pairs(each.resource.attributes)},
                "schemaUrl": each.schema_url,
                "scopeLogs": [
                    {
                        "scope": {"name": scope_logs.scope.name, "version": scope_logs.scope.version},
                        "schemaUrl": scope_logs.schema_url,
                        "logRecords": [_record(record) for record in scope_logs.log_records],
                    }
                    for scope_logs in each.scope_logs
                ],
            }
            for each in message.resource_logs
        ]
    }


def _record(record: Any) -> dict[str, Any]:
    document = {
        "traceId": record.trace_id.hex(),
        "spanId": record.span_id.hex(),
        "timeUnixNano": record.time_unix_nano,
        "observedTimeUnixNano": record.observed_time_unix_nano,
        "eventName": record.event_name,
        "severityText": record.severity_text,
        "attributes": _pairs(record.attributes),
    }
    if record.HasField("body"):
        document["body"] = _value(record.body)
    return document


def _scope_spans(message: Any) -> dict[str, Any]:
    return {
        "scope": {"name": message.scope.name, "version": message.scope.version},
        "schemaUrl": message.schema_url,
        "spans": [_span(span) for span in message.spans],
    }


def _span(span: Any) -> dict[str, Any]:
    document = {
        "traceId": span.trace_id.hex(),
        "spanId": span.span_id.hex(),
        "parentSpanId": span.parent_span_id.hex(),
        "name": span.name,
        "kind": span.kind,
        "startTimeUnixNano": span.start_time_unix_nano,
        "endTimeUnixNano": span.end_time_unix_nano,
        "attributes": _pairs(span.attributes),
    }
    if span.HasField("status"):
        document["status"] = {"code": span.status.code, "message": span.status.message}
    if span.trace_state:
        document["traceState"] = span.trace_state
    if span.events:
        document["events"] = [
            {"name": event.name, "timeUnixNano": event.time_unix_nano, "attributes": _pairs(event.attributes)}
            for event in span.events
        ]
    if span.links:
        document["links"] = [
            {"traceId": link.trace_id.hex(), "spanId": link.span_id.hex(), "attributes": _pairs(link.attributes)}
            for link in span.links
        ]
    return document


def _pairs(attributes: Iterable[Any]) -> list[dict[str, Any]]:
    return [{"key": each.key, "value": _value(each.value)} for each in attributes]


def _value(value: Any) -> dict[str, Any]:
    # By far the most are texts; of another kind it is empty.
    if text := value.string_value:
        return {"stringValue": text}
    kind = value.WhichOneof("value")
    if kind == "string_value":
        return {"stringValue": ""}
    return {} if kind is None else _OTHERS.get(kind, _unknown)(value)


def _double(value: Any) -> dict[str, Any]:
    number = value.double_value
    if number - number == 0:
        return {"doubleValue": number}
    # As OTLP writes what JSON cannot.
    return {"doubleValue": "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"}  # noqa: PLR0124


def _unknown(value: Any) -> dict[str, Any]:
    """Return a value that nobody takes: one for signals other than traces."""
    return {str(value.WhichOneof("value")): None}


_OTHERS: Final[Mapping[str, Callable[[Any], dict[str, Any]]]] = {
    "int_value": lambda value: {"intValue": value.int_value},
    "bool_value": lambda value: {"boolValue": value.bool_value},
    "double_value": _double,
    "bytes_value": lambda value: {"bytesValue": b64encode(value.bytes_value).decode()},
    "array_value": lambda value: {"arrayValue": {"values": [_value(each) for each in value.array_value.values]}},
    "kvlist_value": lambda value: {"kvlistValue": {"values": _pairs(value.kvlist_value.values)}},
}


def answer(content_type: str, *, rejected: int = 0, message: str = "", signal: Signal | None = None) -> bytes:
    """Return the answer to an export, of traces unless said otherwise.

    It speaks of partial success only where something was rejected.
    """
    signal = signal or TRACES
    in_json, in_protobuf = signal.rejected
    if content_type == JSON:
        partial = {"partialSuccess": {in_json: str(rejected), "errorMessage": message}}
        return orjson.dumps(partial if rejected or message else {})
    response = signal.response()
    if rejected or message:
        setattr(response.partial_success, in_protobuf, rejected)
        response.partial_success.error_message = message
    return bytes(response.SerializeToString())


def failure(content_type: str, *, code: int, message: str) -> bytes:
    """Return a google.rpc.Status; `code` is one of gRPC's."""
    if content_type == JSON:
        return orjson.dumps({"code": code, "message": message})
    # Two fields: an integer, and text with its length. None of our packages has the message.
    text = message.encode()
    return bytes((0x08, code, 0x12)) + _varint(len(text)) + text


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*found, number))


TRACES: Final = Signal(
    "resourceSpans",
    "scopeSpans",
    "spans",
    ("rejectedSpans", "rejected_spans"),
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
LOGS: Final = Signal(
    "resourceLogs",
    "scopeLogs",
    "logRecords",
    ("rejectedLogRecords", "rejected_log_records"),
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
