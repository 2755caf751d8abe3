"""Reads OpenTelemetry's traces and log records from files: exports of OTLP, as a collector writes them.

In JSON a file is one document, or has one a line; in protobuf it is one message, or messages after their lengths.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolevals.grading.files.evaluation_files.entry import Found, items_at
from toolevals.grading.files.evaluation_files.spans import Span, SpanKind, traces_read
from toolevals.grading.reading.telemetry.conventions import CONVENTIONS, reading_of
from toolevals.grading.reading.telemetry.otlp import HOLDERS, is_export, spans_in
from toolevals.grading.reading.telemetry.otlp_logs import LogRecord, identity_of, records_in, with_records
from toolevals.grading.reading.telemetry.reading import SpanReading
from toolevals.grading.reading.telemetry.spans import TelemetrySpan
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to

_UNREAD = "is an attribute of no convention that is known here: left out"
NO_SPAN = "is a log record whose span is not in the file"
_TITLES = {each.name: each.title for each in CONVENTIONS}


def detect(item: Any) -> str | None:
    """Return why a document is an export of spans or log records; None where it is none."""
    if not is_export(item):
        return None
    return f"it has {' and '.join(name for name in HOLDERS if name in item)}, as OTLP has it"


def read(document: Any) -> Iterator[Found]:
    """Yield a trial for each trace whose spans hold a conversation; where no span holds one, what is wrong.

    A log record is an event of its span, wherever in the file it stands; one whose span is not there is wrong.
    """
    # By id: an exporter that did not hear of its success sends a span again.
    kept: dict[tuple[str, str], tuple[str, TelemetrySpan]] = {}
    records: dict[tuple[str, str], dict[bytes, tuple[str, LogRecord]]] = {}
    for prefix, export in items_at(document):
        if not is_export(export):
            yield prefix, InvalidDocument.at("", f"is no export of OTLP: it has no list {' or '.join(HOLDERS)}")
            continue
        for pointer, span in spans_in(export):
            if isinstance(span, InvalidDocument):
                yield prefix + pointer, span
            else:
                kept.setdefault((span.trace_id, span.span_id), (prefix + pointer, span))
        for each in records_in(export):
            if isinstance(each.record, InvalidDocument):
                yield prefix + each.pointer, each.record
            else:
                of_span = records.setdefault((each.record.trace_id, each.record.span_id), {})
                of_span.setdefault(identity_of(each.record), (prefix + each.pointer, each.record))
    spans: list[tuple[str, TelemetrySpan, SpanReading]] = []
    for key, (pointer, span) in kept.items():
        joined = with_records(span, [record for _, record in records.pop(key, {}).values()])
        spans.append((pointer, joined, reading_of(joined)))
    if spans:
        yield from conversations_in(spans)
    if lone := [pointer for of_span in records.values() for pointer, _ in of_span.values()]:
        yield lone[0], InvalidDocument.at("", f"{NO_SPAN}: {len(lone):,} of the file, this one first")


def conversations_in(spans: Sequence[tuple[str, TelemetrySpan, SpanReading]]) -> Iterator[Found]:
    """Yield the same for spans that are read already, each with its pointer; no id twice in a trace."""
    told = {span.trace_id for _, span, reading in spans if reading.kind in ("model", "tool")}
    if not told:
        known = ", ".join(_TITLES.values())
        yield "", InvalidDocument.at("", f"holds {len(spans):,} spans, none of a model's or a tool's call by {known}")
    models = {span.span_id: span for _, span, reading in spans if reading.kind == "model"}
    parents = {span.span_id: span.parent_id for _, span, _ in spans}
    yield from traces_read(
        (
            _span(pointer, span, reading, is_inner=_is_below(span.span_id, parents, models))
            for pointer, span, reading in spans
            if span.trace_id in told
        ),
        "otlp",
    )


def _is_below(identifier: str, parents: Mapping[str, str], models: Mapping[str, Any]) -> bool:
    """Tell whether a span is inside a model's call: two instrumentations wrote the same call."""
    seen = {identifier}
    while (identifier := parents.get(identifier, "")) and identifier not in seen:
        if identifier in models:
            return True
        seen.add(identifier)
    return False


def _span(pointer: str, span: TelemetrySpan, reading: SpanReading, *, is_inner: bool) -> Span:
    kind: SpanKind = "other" if is_inner or reading.kind == "agent" else reading.kind
    return Span(
        id=span.span_id,
        trace=span.trace_id,
        parent=span.parent_id,
        kind=kind,
        name=reading.tool or span.name,
        given=reading.given,
        made=reading.made,
        start=f"{span.start:020}",
        pointer=pointer,
        given_at=reading.given_at,
        made_at=reading.made_at,
        error=reading.error,
        tools=reading.tools,
        call=reading.call_id or "",
        usage=reading.usage,
        losses=tuple(Problem(pointer_to(("attributes", name)), _UNREAD) for name in reading.unread),
    )
