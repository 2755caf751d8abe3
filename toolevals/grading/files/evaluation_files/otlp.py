"""Reads OpenTelemetry's traces and log records from files: exports of OTLP, as a collector writes them.

In JSON a file is one document, or has one a line; in protobuf it is one message, or messages after their lengths.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolevals.grading.files.evaluation_files.entry import Found, items_at
from toolevals.grading.files.evaluation_files.spans import ReadTools, Span, SpanKind, traces_read
from toolevals.grading.reading.examples import tools_in_row
from toolevals.grading.reading.telemetry.conventions import CONVENTIONS, reading_of
from toolevals.grading.reading.telemetry.otlp import (
    HOLDERS,
    LogRecord,
    TelemetrySpan,
    identity_of,
    is_export,
    records_in,
    spans_in,
    with_records,
)
from toolevals.grading.reading.telemetry.reading import NUL_SHOWN, SpanReading
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to
from toolevals.json_types import JsonMapping, JsonValue

_UNREAD = "is an attribute of no convention that is known here: left out"
_TITLES = {each.name: each.title for each in CONVENTIONS}


def detect(item: JsonValue) -> str | None:
    """Return why a document is an export of spans or log records; None where it is none."""
    if not is_export(item):
        return None
    return f"it has {' and '.join(name for name in HOLDERS if name in item)}, as OTLP has it"


def read(document: object) -> Iterator[Found]:
    """Yield a trial for each trace whose spans hold a conversation; where no span holds one, what is wrong.

    A log record is an event of its span, at any place in the file. Those whose spans are not there, or that name
    none, are a loss of the first span; where there is no span at all, they are what is wrong.
    """
    # By id: an exporter that did not hear of its success sends a span again.
    kept: dict[tuple[str, str], tuple[str, TelemetrySpan]] = {}
    records = _Records()
    for prefix, export in items_at(document):
        if not is_export(export):
            yield prefix, InvalidDocument.at("", f"is not an export of OTLP: it has no list {' or '.join(HOLDERS)}")
            continue
        for pointer, span in spans_in(export):
            if isinstance(span, InvalidDocument):
                yield prefix + pointer, span
            else:
                kept.setdefault((span.trace_id, span.span_id), (prefix + pointer, span))
        yield from records.take(prefix, export)
    spans: list[tuple[str, TelemetrySpan, SpanReading]] = []
    for pointer, span in kept.values():
        joined = with_records(span, records.of(span))
        try:
            spans.append((pointer, joined, reading_of(joined)))
        except InvalidDocument as error:
            yield pointer, error
    alone = records.alone
    if spans:
        yield from conversations_in(spans, _left_out(alone))
    elif alone:
        yield alone[0], InvalidDocument.at("", f"is a log record without a span, as are all {len(alone):,} of the file")


class _Records:
    """Holds the log records of a file by their spans, each once; and where those stand that name no span."""

    def __init__(self) -> None:
        self._of_span: dict[tuple[str, str], dict[bytes, tuple[str, LogRecord]]] = {}
        self._nameless: list[str] = []

    def take(self, prefix: str, export: Any) -> Iterator[Found]:
        """Take those of an export in, and yield what is wrong with others."""
        for each in records_in(export):
            record, pointer = each.record, prefix + each.pointer
            if not isinstance(record, InvalidDocument):
                of_span = self._of_span.setdefault((record.trace_id, record.span_id), {})
                of_span.setdefault(identity_of(record), (pointer, record))
            elif each.item.get("traceId") and each.item.get("spanId"):
                yield pointer, record
            else:
                self._nameless.append(pointer)

    def of(self, span: TelemetrySpan) -> list[LogRecord]:
        """Return those of a span, which are no longer alone."""
        return [record for _, record in self._of_span.pop((span.trace_id, span.span_id), {}).values()]

    @property
    def alone(self) -> list[str]:
        """The pointers of those whose span was not asked for, or that name none."""
        return [*self._nameless, *(pointer for some in self._of_span.values() for pointer, _ in some.values())]


def _left_out(alone: Sequence[str]) -> tuple[Problem, ...]:
    """Return what is lost with log records without a span, by their pointers."""
    if not alone:
        return ()
    count = "a log record" if len(alone) == 1 else f"{len(alone):,} log records"
    return (Problem("", f"{count} without a span in the file, the first at {alone[0]}: left out"),)


def conversations_in(
    spans: Sequence[tuple[str, TelemetrySpan, SpanReading]],
    losses: Sequence[Problem] = (),
    tools: ReadTools = tools_in_row,
) -> Iterator[Found]:
    """Yield the same for spans that are read already, each with its pointer; no id twice in a trace.

    `losses` are of the first span that tells of a conversation; `tools` reads the tools that were offered.
    """
    told = {span.trace_id for _, span, reading in spans if reading.kind in ("model", "tool")}
    if not told:
        known = ", ".join(_TITLES.values())
        yield "", InvalidDocument.at("", f"holds {len(spans):,} spans, none of a model's or a tool's call by {known}")
    models = {span.span_id: span for _, span, reading in spans if reading.kind == "model"}
    parents = {span.span_id: span.parent_id for _, span, _ in spans}
    shown = [
        _span(pointer, span, reading, is_inner=is_below(span.span_id, parents, models))
        for pointer, span, reading in spans
        if span.trace_id in told
    ]
    shown[:1] = [replace(each, losses=(*each.losses, *losses)) for each in shown[:1]]
    yield from traces_read(shown, "otlp", tools)


def is_below(identifier: str, parents: Mapping[str, str], models: JsonMapping) -> bool:
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
        losses=(*reading.damage, *(Problem(pointer_to(("attributes", name)), _UNREAD) for name in reading.unread)),
        is_partial=reading.is_partial,
        is_cut=any(each.message != NUL_SHOWN for each in reading.damage),
    )
