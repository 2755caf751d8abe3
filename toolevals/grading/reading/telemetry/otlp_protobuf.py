"""Reads OTLP in protobuf: its messages become the JSON form, which the readers of spans and log records read.

Source: https://opentelemetry.io/docs/specs/otlp/. The generic reader of protobuf's JSON takes ids for base64, while
OTLP writes them in hexadecimal digits: so it is not used. A collector's file exporter writes each message after its
length, as four bytes, the largest first.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonObject, JsonValue

_DROPPED: Final = (
    ("dropped_attributes_count", "droppedAttributesCount"),
    ("dropped_events_count", "droppedEventsCount"),
    ("dropped_links_count", "droppedLinksCount"),
)
# Bytes of the length before each message of a file.
_LENGTH: Final = 4


def exports_in(content: bytes) -> list[JsonObject]:
    """Return the exports in a file, of spans or log records, as JSON; none where it holds no message of OTLP.

    The file is one message, as it is sent, or messages after their lengths. Raises as `traces_in_json`.
    """
    if (one := _export(content)) is not None:
        return [one]
    found, at = [], 0
    while at < len(content):
        end = at + _LENGTH + int.from_bytes(content[at : at + _LENGTH], "big")
        export = _export(content[at + _LENGTH : end]) if at + _LENGTH < end <= len(content) else None
        if export is None:
            return []
        found.append(export)
        at = end
    return found


def _export(body: bytes) -> JsonObject | None:
    """Return a message as JSON; None where it is neither an export of spans nor one of log records."""
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    def read(message: JsonValue) -> Any:
        try:
            message.ParseFromString(body)
        except (DecodeError, RecursionError):
            return type(message)()
        return message

    # Down to their items both have the same shape: what the one does not know in the other, it passes over or refuses.
    traces = read(ExportTraceServiceRequest())
    if any(span.trace_id for each in traces.resource_spans for scope in each.scope_spans for span in scope.spans):
        return traces_in_json(traces)
    logs = read(ExportLogsServiceRequest())
    items = (item for each in logs.resource_logs for scope in each.scope_logs for item in scope.log_records)
    if any(item.trace_id or item.time_unix_nano or item.observed_time_unix_nano for item in items):
        return logs_in_json(logs)
    return None


def traces_in_json(message: JsonValue) -> JsonObject:
    """Return an `ExportTraceServiceRequest` as the JSON form of OTLP.

    Every value in it is of the right type, and nests less deeply than `MAX_VALUE_DEPTH`, since a message may nest 100
    levels; ids may have any length. Raises InvalidDocument for a value of another signal.
    """
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


def kept_traces_in_json(body: bytes) -> JsonObject:
    """Return an `ExportTraceServiceRequest` that was accepted before as JSON: a value of another signal is named.

    Raises DecodeError where the body is no message.
    """
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    message = ExportTraceServiceRequest.FromString(body)
    try:
        return traces_in_json(message)
    except InvalidDocument:
        _name_unknown(message)
        return traces_in_json(message)


def _name_unknown(message: JsonValue) -> None:
    """Put the name of its kind in the place of each value whose kind traces do not have."""
    for field, held in message.ListFields():
        if field.message_type is None:
            continue
        for each in held if field.is_repeated else (held,):
            kind = each.WhichOneof("value") if field.message_type.name == "AnyValue" else None
            if kind and kind not in _OTHERS and kind != "string_value":
                each.string_value = f"[a value of the kind {kind}, which traces do not have]"
            _name_unknown(each)


def logs_in_json(message: JsonValue) -> JsonObject:
    """Return an `ExportLogsServiceRequest` as the JSON form of OTLP, as `traces_in_json` does spans."""
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


def _record(record: Any) -> JsonObject:
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
    return document | _dropped(record)


def _scope_spans(message: JsonValue) -> JsonObject:
    return {
        "scope": {"name": message.scope.name, "version": message.scope.version},
        "schemaUrl": message.schema_url,
        "spans": [_span(span) for span in message.spans],
    }


def _span(span: Any) -> JsonObject:
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
            {
                "name": event.name,
                "timeUnixNano": event.time_unix_nano,
                "attributes": _pairs(event.attributes),
                **_dropped(event),
            }
            for event in span.events
        ]
    if span.links:
        document["links"] = [
            {
                "traceId": link.trace_id.hex(),
                "spanId": link.span_id.hex(),
                "attributes": _pairs(link.attributes),
                **_dropped(link),
            }
            for link in span.links
        ]
    return document | _dropped(span)


def _dropped(message: JsonValue) -> dict[str, int]:
    """Return how much of a span, an event, a link or a log record its sender dropped."""
    return {
        name: count
        for field, name in _DROPPED
        if field in message.DESCRIPTOR.fields_by_name and (count := getattr(message, field))
    }


def _pairs(attributes: Iterable[Any]) -> list[JsonObject]:
    # By far the most are texts; of another kind the text is empty.
    return [
        {"key": each.key, "value": {"stringValue": text} if (text := each.value.string_value) else _value(each.value)}
        for each in attributes
    ]


def _value(value: JsonValue) -> JsonObject:
    kind = value.WhichOneof("value")
    if kind == "string_value":
        return {"stringValue": value.string_value}
    return {} if kind is None else _OTHERS.get(kind, _unknown)(value)


def _double(value: JsonValue) -> JsonObject:
    number = value.double_value
    if number - number == 0:
        return {"doubleValue": number}
    # As OTLP writes what JSON cannot.
    return {"doubleValue": "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"}  # noqa: PLR0124


def _unknown(value: JsonValue) -> JsonObject:
    kind = value.WhichOneof("value")
    raise InvalidDocument.at("", f"A value is of the kind {kind}, which traces and logs do not have.")


_OTHERS: Final[Mapping[str, Callable[[Any], JsonObject]]] = {
    "int_value": lambda value: {"intValue": value.int_value},
    "bool_value": lambda value: {"boolValue": value.bool_value},
    "double_value": _double,
    "bytes_value": lambda value: {"bytesValue": b64encode(value.bytes_value).decode()},
    "array_value": lambda value: {"arrayValue": {"values": [_value(each) for each in value.array_value.values]}},
    "kvlist_value": lambda value: {"kvlistValue": {"values": _pairs(value.kvlist_value.values)}},
}
