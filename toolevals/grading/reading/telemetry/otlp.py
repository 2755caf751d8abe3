"""Reads OTLP as JSON: an `ExportTraceServiceRequest`, as exporters send it and collectors write it to files.

Source: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding. Ids are hexadecimal digits, numbers of 64 bits
may be text, enumerations are numbers, and keys are in camel case. What OTLP does not know is ignored, as it demands.

Reads log records of OTLP as JSON: those of generative AI are events of the span in which they were made.

Source: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding, and for the events
https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-events/. Instrumentations of the conventions' versions 1.28 to
1.36 send one record for each message; later ones send one with all that a call was given and made.

Defines spans of OpenTelemetry as plain values.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject

Status = Literal["unset", "ok", "error"]


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """One event of a span. `time` is in nanoseconds since 1970."""

    name: str
    time: int
    attributes: JsonMapping = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TelemetrySpan:
    """One span: ids in lower-case hexadecimal digits, times in nanoseconds since 1970, attributes by their full names.

    `parent_id` is empty for the root of a trace. `resource` holds the attributes of the process that made the span,
    `scope` and `scope_version` name its instrumentation, and `schema_url` the version of the conventions, where sent.
    `dropped` counts the attributes, events and links that the sender dropped, those of events included.
    """

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    start: int
    end: int
    attributes: JsonMapping = field(default_factory=dict)
    events: tuple[SpanEvent, ...] = ()
    status: Status = "unset"
    status_message: str = ""
    resource: JsonMapping = field(default_factory=dict)
    scope: str = ""
    scope_version: str = ""
    schema_url: str = ""
    dropped: Mapping[str, int] = field(default_factory=dict)


TRACE_ID = re.compile(r"[0-9a-fA-F]{32}", re.ASCII)
SPAN_ID = re.compile(r"[0-9a-fA-F]{16}", re.ASCII)
_INTEGER = re.compile(r"-?[0-9]{1,20}", re.ASCII)
_COUNT = re.compile(r"[0-9]{1,10}", re.ASCII)
_STATUS: Mapping[Any, Status] = {
    0: "unset", 1: "ok", 2: "error",
    "STATUS_CODE_UNSET": "unset", "STATUS_CODE_OK": "ok", "STATUS_CODE_ERROR": "error",
}  # fmt: skip
_FLOATS: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
# What an attribute may nest: OTLP sets no limit, and a message of JSON text is deeper only once it is read.
MAX_VALUE_DEPTH = 60
_LARGEST = 2**64 - 1
# What an export holds, by the name of its outermost list.
HOLDERS: Final = ("resourceSpans", "resourceLogs")


def is_export(document: object) -> bool:
    """Tell whether a document is an export of spans, of log records, or of both."""
    return isinstance(document, Mapping) and any(isinstance(document.get(name), list) for name in HOLDERS)


@dataclass(frozen=True, slots=True)
class Exported:
    """One span of an export: the three objects that hold it as they stand there, and what it says or what is wrong."""

    pointer: str
    resource_spans: JsonMapping
    scope_spans: JsonMapping
    item: JsonMapping
    span: TelemetrySpan | InvalidDocument


def spans_in(document: JsonMapping) -> Iterator[tuple[str, TelemetrySpan | InvalidDocument]]:
    """Yield each span with its pointer, or what is wrong with it, its pointer from the span on.

    Raises InvalidDocument where the lists that hold spans are none.
    """
    return ((each.pointer, each.span) for each in exported_in(document))


def exported_in(document: JsonMapping) -> Iterator[Exported]:
    """Yield each span with what holds it. Raises as `spans_in`."""
    for resource_place, resource_spans in objects_in(document, "resourceSpans", ""):
        resource = attributes_under(resource_spans, "resource", resource_place)
        for scope_place, scope_spans in objects_in(resource_spans, "scopeSpans", resource_place):
            scope = scope_spans.get("scope")
            scope = scope if isinstance(scope, Mapping) else {}
            address = text_of(scope_spans.get("schemaUrl")) or text_of(resource_spans.get("schemaUrl"))
            words = text_of(scope.get("name")), text_of(scope.get("version")), address
            for place, item in objects_in(scope_spans, "spans", scope_place):
                span: TelemetrySpan | InvalidDocument
                try:
                    span = _span(item, resource, *words)
                except InvalidDocument as error:
                    span = error
                yield Exported(place, resource_spans, scope_spans, item, span)


def _span(item: JsonMapping, resource: JsonMapping, scope: str, version: str, address: str) -> TelemetrySpan:
    status = item.get("status")
    status = status if isinstance(status, Mapping) else {}
    start = time_of(item, "startTimeUnixNano")
    trace_id, span_id, parent_id = ids_of(item)
    return TelemetrySpan(
        trace_id=trace_id,
        span_id=span_id,
        parent_id=parent_id,
        name=text_of(item.get("name")),
        start=start,
        end=max(start, time_of(item, "endTimeUnixNano")),
        attributes=attributes_of(item.get("attributes"), "/attributes"),
        events=tuple(_event(event, place) for place, event in objects_in(item, "events", "")),
        status=_STATUS.get(status.get("code", 0), "unset"),
        status_message=text_of(status.get("message")),
        resource=resource,
        scope=scope,
        scope_version=version,
        schema_url=address,
        dropped=_dropped(item),
    )


def _dropped(item: JsonMapping) -> dict[str, int]:
    """Return how many attributes, events and links the sender dropped, the attributes of events included."""
    events = [event for _, event in objects_in(item, "events", "")]
    counts = {
        "attributes": sum(count_of(each, "droppedAttributesCount") for each in (item, *events)),
        "events": count_of(item, "droppedEventsCount"),
        "links": count_of(item, "droppedLinksCount"),
    }
    return {what: count for what, count in counts.items() if count}


def count_of(item: JsonMapping, key: str) -> int:
    """Return a count; 0 where there is none, or where it is none."""
    value = item.get(key)
    return int(value) if isinstance(value, int | str) and _COUNT.fullmatch(str(value)) else 0


def ids_of(item: JsonMapping) -> tuple[str, str, str]:
    """Return the ids of a span: its trace's, its own and its parent's, empty at the root. Raises InvalidDocument."""
    parent_id = identifier_of(item, "parentSpanId", SPAN_ID) if item.get("parentSpanId") else ""
    return identifier_of(item, "traceId", TRACE_ID), identifier_of(item, "spanId", SPAN_ID), parent_id


def _event(item: JsonMapping, place: str) -> SpanEvent:
    try:
        return SpanEvent(
            name=text_of(item.get("name")),
            time=time_of(item, "timeUnixNano"),
            attributes=attributes_of(item.get("attributes"), "/attributes"),
        )
    except InvalidDocument as error:
        raise error.below(place) from None


def attributes_of(value: object, pointer: str) -> JsonObject:
    """Return a list of keys and values as one object; of a key given twice the last counts. Raises InvalidDocument."""
    if value is None:
        return {}
    if not isinstance(value, list):
        raise InvalidDocument.at(pointer, "is not a list of keys and values")
    found: JsonObject = {}
    for place, item in enumerate(value):
        if not isinstance(item, dict | Mapping) or not isinstance(item.get("key"), str):
            raise InvalidDocument.at(f"{pointer}/{place}/key", "is missing, or is not text")
        inner = item.get("value")
        # By far the most are plain texts.
        text = inner.get("stringValue") if type(inner) is dict else None
        if type(text) is str:
            found[item["key"]] = text
        else:
            found[item["key"]] = value_of(inner, f"{pointer}/{place}/value", MAX_VALUE_DEPTH)
    return found


def value_of(value: object, pointer: str, depth: int) -> Any:
    """Return an `AnyValue` as JSON's value; bytes stay base64 text."""
    if value is None or value == {}:
        return None
    if not isinstance(value, Mapping):
        raise InvalidDocument.at(pointer, 'is not a value of OTLP, such as {"stringValue": "text"}')
    if depth == 0:
        raise InvalidDocument.at(pointer, f"is nested deeper than {MAX_VALUE_DEPTH} levels")
    for key, read in _READERS.items():
        if key in value:
            return read(value[key], f"{pointer}/{key}", depth - 1)
    raise InvalidDocument.at(
        pointer, f"is a value of a kind that OTLP does not have: {', '.join(map(str, value))[:80]}"
    )


def _text_value(value: object, pointer: str, _: int) -> str:
    if not isinstance(value, str):
        raise InvalidDocument.at(pointer, "is not text")
    return value


def _boolean(value: object, pointer: str, _: int) -> bool:
    if not isinstance(value, bool):
        raise InvalidDocument.at(pointer, "is neither true nor false")
    return value


def _array(value: object, pointer: str, depth: int) -> list[Any]:
    items = value.get("values", []) if isinstance(value, Mapping) else None
    if not isinstance(items, list):
        raise InvalidDocument.at(f"{pointer}/values", "is not a list")
    return [value_of(item, f"{pointer}/values/{at}", depth) for at, item in enumerate(items)]


def _pairs(value: object, pointer: str, depth: int) -> JsonObject:
    if not isinstance(value, Mapping):
        raise InvalidDocument.at(pointer, "is not an object")
    return {
        text_of(item.get("key")): value_of(item.get("value"), f"{place}/value", depth)
        for place, item in objects_in(value, "values", pointer)
    }


def _integer(value: object, pointer: str, _: int = 0) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        return int(value)
    raise InvalidDocument.at(pointer, "is not a whole number")


def _double(value: object, pointer: str, _: int = 0) -> float | str:
    """Return a number; the three that JSON does not have stay the text that OTLP writes for them."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if value in _FLOATS:
        return str(value)
    raise InvalidDocument.at(pointer, "is not a number")


_READERS: Final[Mapping[str, Callable[[Any, str, int], Any]]] = {
    "stringValue": _text_value,
    "boolValue": _boolean,
    "intValue": _integer,
    "doubleValue": _double,
    "arrayValue": _array,
    "kvlistValue": _pairs,
    "bytesValue": _text_value,
}


def objects_in(holder: JsonMapping, key: str, pointer: str) -> Iterator[tuple[str, JsonMapping]]:
    """Yield the objects of a list with their pointers; nothing where it is not there. Raises InvalidDocument."""
    items = holder.get(key)
    if items is None:
        return
    if not isinstance(items, list):
        raise InvalidDocument.at(f"{pointer}/{key}", "is not a list")
    for place, item in enumerate(items):
        if not isinstance(item, dict | Mapping):
            raise InvalidDocument.at(f"{pointer}/{key}/{place}", "is not an object")
        yield f"{pointer}/{key}/{place}", item


def attributes_under(holder: JsonMapping, key: str, pointer: str) -> JsonObject:
    """Return the attributes of an object that another holds, such as the resource. Raises InvalidDocument."""
    inner = holder.get(key)
    try:
        return attributes_of(inner.get("attributes"), f"/{key}/attributes") if isinstance(inner, Mapping) else {}
    except InvalidDocument as error:
        raise error.below(pointer) from None


def identifier_of(item: JsonMapping, key: str, form: re.Pattern[str]) -> str:
    """Return an id of the form `TRACE_ID` or `SPAN_ID` in lower case. Raises InvalidDocument."""
    value = item.get(key)
    if not isinstance(value, str) or not form.fullmatch(value) or not value.strip("0"):
        digits = 32 if form is TRACE_ID else 16
        raise InvalidDocument.at(f"/{key}", f"is not an id of {digits} hexadecimal digits, not all of them 0")
    return value.lower()


def time_of(item: JsonMapping, key: str) -> int:
    """Return a time in nanoseconds since 1970, 0 where there is none. Raises InvalidDocument."""
    value = item.get(key)
    if value is None:
        return 0
    time = _integer(value, f"/{key}")
    if not 0 <= time <= _LARGEST:
        raise InvalidDocument.at(f"/{key}", "is not a time in nanoseconds since 1970")
    return time


def text_of(value: object) -> str:
    """Return a text, the empty one for what is none."""
    return value if isinstance(value, str) else ""


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
    resource_logs: JsonMapping
    scope_logs: JsonMapping
    item: JsonMapping
    record: LogRecord | InvalidDocument


def records_in(document: JsonMapping) -> Iterator[ExportedRecord]:
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


def _record(item: JsonMapping) -> LogRecord:
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


def _id(item: JsonMapping, key: str, form: Any) -> str:
    if not item.get(key):
        raise InvalidDocument.at(
            f"/{key}", "is missing: a log record is taken with the ids of the trace and span in which it was made"
        )
    return identifier_of(item, key, form)
