"""Reads log records of OTLP as JSON: those of generative AI are events of the span in which they were made.

Source: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding, and for the events
https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-events/. Instrumentations of the conventions' versions 1.28 to
1.36 send one record for each message; later ones send one with all that a call was given and made.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from toolevals.grading.reading.telemetry.otlp import (
    MAX_VALUE_DEPTH,
    SPAN_ID,
    TRACE_ID,
    attributes_of,
    attributes_under,
    count_of,
    identifier_of,
    objects_in,
    text_of,
    time_of,
    value_of,
)
from toolevals.grading.reading.telemetry.spans import SpanEvent, TelemetrySpan
from toolevals.grading.values.problems import InvalidDocument

# Names of an event's body among its attributes, and of what a log record says beside it.
BODY: Final = "event.body"
SEVERITY: Final = "severity_text"
_NAME: Final = "event.name"


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One log record: ids in lower-case hexadecimal digits, and the event that it is."""

    trace_id: str
    span_id: str
    event: SpanEvent
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class ExportedRecord:
    """One record of an export: the objects that hold it as they stand there, and what it says or what is wrong."""

    pointer: str
    resource_logs: Mapping[str, Any]
    scope_logs: Mapping[str, Any]
    item: Mapping[str, Any]
    record: LogRecord | InvalidDocument


def records_in(document: Mapping[str, Any]) -> Iterator[ExportedRecord]:
    """Yield each log record with what holds it. Raises InvalidDocument where the lists that hold records are none."""
    for resource_place, resource_logs in objects_in(document, "resourceLogs", ""):
        attributes_under(resource_logs, "resource", resource_place)
        for scope_place, scope_logs in objects_in(resource_logs, "scopeLogs", resource_place):
            for place, item in objects_in(scope_logs, "logRecords", scope_place):
                record: LogRecord | InvalidDocument
                try:
                    record = _record(item)
                except InvalidDocument as error:
                    record = error
                yield ExportedRecord(place, resource_logs, scope_logs, item, record)


def with_records(span: TelemetrySpan, records: Iterable[LogRecord]) -> TelemetrySpan:
    """Return a span with its records as events, in the order of their times; of the same time, as they came."""
    more = list(records)
    if not more:
        return span
    events = sorted((*span.events, *(record.event for record in more)), key=lambda event: event.time)
    count = span.dropped.get("attributes", 0) + sum(record.dropped for record in more)
    return replace(span, events=tuple(events), dropped={**span.dropped, "attributes": count})


def identity_of(record: LogRecord) -> bytes:
    """Return all that a record says, in one form, whichever encoding it came in: two that say the same are one."""
    event = record.event
    said = (record.trace_id, record.span_id, event.name, event.time, event.attributes)
    return json.dumps(said, sort_keys=True).encode()


def _record(item: Mapping[str, Any]) -> LogRecord:
    trace_id = _id(item, "traceId", TRACE_ID)
    span_id = _id(item, "spanId", SPAN_ID)
    attributes = attributes_of(item.get("attributes"), "/attributes")
    # Before records had names, the name was an attribute.
    name = text_of(item.get("eventName")) or text_of(attributes.get(_NAME))
    body = value_of(item.get("body"), "/body", MAX_VALUE_DEPTH)
    if body is not None:
        attributes[BODY] = body
        if isinstance(body, Mapping):
            # Some write what the conventions have as attributes into the body.
            attributes |= {key: value for key, value in body.items() if key.startswith("gen_ai.")} | attributes
    if severity := text_of(item.get("severityText")):
        attributes[SEVERITY] = severity
    time = time_of(item, "timeUnixNano") or time_of(item, "observedTimeUnixNano")
    dropped = count_of(item, "droppedAttributesCount")
    return LogRecord(trace_id, span_id, SpanEvent(name, time, attributes), dropped)


def _id(item: Mapping[str, Any], key: str, form: Any) -> str:
    if not item.get(key):
        raise InvalidDocument.at(
            f"/{key}", "is missing: a log record is taken with the ids of the trace and span in which it was made"
        )
    return identifier_of(item, key, form)
