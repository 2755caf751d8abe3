"""Cut an export into what is stored of each trace, and into spans that are rejected.

An export in protobuf is cut without being turned into JSON: its spans stay the messages that they are.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final, Generic, TypeVar

import orjson

from toolevals.grading.files.evaluation_files.entry import keys
from toolevals.grading.reading.telemetry.otlp import (
    Exported,
    ExportedRecord,
    exported_in,
    identity_of,
    ids_of,
    records_in,
)
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping
from toolevals.traces.intake.encodings import TRACES, Signal, delimited

# Of one span as it is stored: the longest conversations of agents have a tenth of it.
SPAN_MAX_BYTES: Final = 4 * 1024 * 1024
# So many rejected spans are named in an answer, each with the first thing that is wrong.
NAMED: Final = 5
# What OTLP knows of a span. Everything else is ignored, as it demands.
_KNOWN: Final = keys(
    "traceId spanId parentSpanId name kind startTimeUnixNano endTimeUnixNano attributes events links status traceState "
    "flags droppedAttributesCount droppedEventsCount droppedLinksCount"
)
_KNOWN_OF_RECORDS: Final = keys(
    "traceId spanId timeUnixNano observedTimeUnixNano eventName severityNumber severityText body attributes flags "
    "droppedAttributesCount"
)
_IDS: Final = ("traceId", "spanId", "parentSpanId")
# No hexadecimal digit: so no record's key is a span's.
_RECORD: Final = "l"

Change = Callable[[JsonMapping], JsonMapping]


# A resource or scope without its items: in OTLP's JSON form or in protobuf.
Above = TypeVar("Above", JsonMapping, bytes)


@dataclass(frozen=True, slots=True)
class Piece(Generic[Above]):
    """One span, or log record, as it is stored: its document in one form of OTLP, and its resource and scope in it.

    `key` is the span's id; a record has none, so its key is made of its whole content. `is_root` marks a span without
    a parent.
    """

    key: str
    is_root: bool
    document: bytes
    holder: Above
    scope: Above


# A piece in either form. The pieces of one export have the same form.
AnyPiece = Piece[Any]


@dataclass(slots=True)
class Sorted:
    """The spans, or log records, of an export by their trace, and how many are not taken and why.

    `left_out` counts those of traces that the sampling rate leaves out, which is no failure.
    """

    traces: dict[str, dict[str, AnyPiece]] = field(default_factory=dict)
    rejected: int = 0
    reasons: list[str] = field(default_factory=list)
    left_out: int = 0

    def reject(self, reason: str, count: int = 1) -> None:
        """Count spans that are not taken, and keep why of the first ones."""
        self.rejected += count
        if len(self.reasons) < NAMED:
            self.reasons.append(reason)

    @property
    def message(self) -> str:
        """Say why spans are rejected: the first reasons."""
        more = f" And {self.rejected - NAMED:,} more." if self.rejected > NAMED else ""
        return " ".join(self.reasons) + more if self.rejected else ""


def is_sampled(trace_id: str, rate: float) -> bool:
    """Tell whether a trace is kept at a rate of 0..1: by its id, so that all its spans are kept or none is."""
    return rate >= 1 or int(trace_id[16:], 16) < rate * 2**64


def sorted_spans(document: JsonMapping, *, rate: float = 1.0, change: Change | None = None) -> Sorted:
    """Return the spans of an export by trace; of an id that comes twice the first counts.

    `change` takes out what may not be stored; it is given each span, and what holds spans. Raises InvalidDocument where
    the lists that hold spans are none, or where a resource cannot be read.
    """
    return _sorted(map(_span_item, exported_in(document)), rate, change)


def sorted_records(document: JsonMapping, *, rate: float = 1.0, change: Change | None = None) -> Sorted:
    """Return the log records of an export by trace, as `sorted_spans` does spans. Two that say the same are one."""
    return _sorted(map(_record_item, records_in(document)), rate, change)


# An item: its pointer, its trace, its key, whether it is a root, what is stored of it and what holds it. Or its pointer
# and what is wrong.
_Item = tuple[str, str, str, bool, JsonMapping, tuple[JsonMapping, JsonMapping]]
_Wrong = tuple[str, InvalidDocument]


def _span_item(exported: Exported) -> _Item | _Wrong:
    span = exported.span
    if isinstance(span, InvalidDocument):
        return exported.pointer, span
    above = exported.resource_spans, exported.scope_spans
    return exported.pointer, span.trace_id, span.span_id, not span.parent_id, _known(exported.item, _KNOWN), above


def _record_item(exported: ExportedRecord) -> _Item | _Wrong:
    record = exported.record
    if isinstance(record, InvalidDocument):
        return exported.pointer, record
    key = _RECORD + sha256(identity_of(record)).hexdigest()[:15]
    item = _known(exported.item, _KNOWN_OF_RECORDS)
    return exported.pointer, record.trace_id, key, False, item, (exported.resource_logs, exported.scope_logs)


def _known(item: JsonMapping, known: Container[str]) -> JsonMapping:
    item = {key: value for key, value in item.items() if key in known}
    for key in _IDS:
        if isinstance(item.get(key), str):
            item[key] = item[key].lower()
    return item


def _sorted(items: Iterable[_Item | _Wrong], rate: float, change: Change | None) -> Sorted:
    found = Sorted()
    holders: dict[int, JsonMapping] = {}
    for each in items:
        if len(each) == 2:
            pointer, wrong = each
            found.reject(f"{pointer}{wrong.problems[0].pointer} {wrong.problems[0].message}.")
            continue
        pointer, trace_id, key, is_root, item, above = each
        if not is_sampled(trace_id, rate):
            found.left_out += 1
            continue
        try:
            written = _document(item, change)
        except InvalidDocument as error:
            found.reject(f"{pointer} {error.problems[0].message}.")
            continue
        piece = Piece(key, is_root, written, *_above(above, holders, change))
        found.traces.setdefault(trace_id, {}).setdefault(key, piece)
    return found


def _document(item: JsonMapping, change: Change | None) -> bytes:
    document = _written(change(item) if change else item)
    require_size(document)
    return document


def require_size(document: bytes) -> None:
    """Require that a span is no larger than one may be. Raises InvalidDocument."""
    if len(document) > SPAN_MAX_BYTES:
        raise InvalidDocument.at("", f"is larger than {SPAN_MAX_BYTES:,} bytes")


def _above(
    above: tuple[JsonMapping, JsonMapping], holders: dict[int, JsonMapping], change: Change | None
) -> tuple[JsonMapping, JsonMapping]:
    """Return what holds an item, without the items: made once for all of them."""
    for holder in above:
        if id(holder) not in holders:
            holders[id(holder)] = _holder(holder, change)
    return holders[id(above[0])], holders[id(above[1])]


def _holder(holder: JsonMapping, change: Change | None) -> JsonMapping:
    """Return what holds items without them."""
    kept = {key: holder[key] for key in ("resource", "scope", "schemaUrl") if holder.get(key)}
    kept = {key: change(value) if change and isinstance(value, Mapping) else value for key, value in kept.items()}
    return {key: orjson.Fragment(_written(value)) for key, value in kept.items()}


def _written(value: object) -> bytes:
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        # What the reader ignores may still be nested without end, or hold half of a character.
        raise InvalidDocument.at("", "cannot be kept as JSON") from None


def stored_document(pieces: Sequence[Piece[JsonMapping]], signal: Signal = TRACES) -> bytes:
    """Return pieces of one trace as one export of OTLP: what is written is read by the reader of exports."""
    return orjson.dumps(
        {
            signal.holders: [
                {
                    **resource,
                    signal.scopes: [
                        {**scope, signal.items: [orjson.Fragment(item) for item in items]} for scope, items in scopes
                    ],
                }
                for resource, scopes in grouped(pieces)
            ]
        }
    )


def grouped(pieces: Sequence[Piece[Above]]) -> list[tuple[Above, list[tuple[Above, list[bytes]]]]]:
    """Return what is stored of pieces below what holds them: resources, in each its scopes, in each its items."""
    found: dict[int, tuple[Above, dict[int, tuple[Above, list[bytes]]]]] = {}
    for piece in pieces:
        _, scopes = found.setdefault(id(piece.holder), (piece.holder, {}))
        _, items = scopes.setdefault(id(piece.scope), (piece.scope, []))
        items.append(piece.document)
    return [(resource, list(scopes.values())) for resource, scopes in found.values()]


_NO_TRACE, _NO_SPAN = bytes(16), bytes(8)
# Numbers of fields: a request's resource spans; what holds them, what they hold, and the schema of either.
_RESOURCE_SPANS: Final = 1
_HOLDER, _HELD, _SCHEMA = 1, 2, 3


@dataclass(frozen=True, slots=True)
class MessagePiece(Piece[bytes]):
    """One span as it is stored: a field of a message of OTLP, and the fields of the messages that hold it."""


def sorted_messages(message: Any, *, rate: float = 1.0) -> Sorted:
    """Return the spans of an `ExportTraceServiceRequest` by trace, as `sorted_spans` does those of the JSON form."""
    found = Sorted()
    for at, resource_spans in enumerate(message.resource_spans):
        holder = _above_message(resource_spans, "resource")
        for below, scope_spans in enumerate(resource_spans.scope_spans):
            scope = _above_message(scope_spans, "scope")
            for place, span in enumerate(scope_spans.spans):
                try:
                    trace_id, key, is_root = _ids(span)
                    if not is_sampled(trace_id, rate):
                        found.left_out += 1
                        continue
                    kept = span.SerializeToString()
                    require_size(kept)
                except InvalidDocument as error:
                    problem = error.problems[0]
                    pointer = f"/resourceSpans/{at}/scopeSpans/{below}/spans/{place}{problem.pointer}"
                    found.reject(f"{pointer} {problem.message}.")
                else:
                    piece = MessagePiece(key, is_root, delimited(_HELD, kept), holder, scope)
                    found.traces.setdefault(trace_id, {}).setdefault(key, piece)
    return found


def stored_message(pieces: Sequence[Piece[bytes]]) -> bytes:
    """Return pieces of one trace as one export of OTLP in protobuf."""
    written = []
    for holder, scopes in grouped(pieces):
        held = [delimited(_HELD, scope + b"".join(spans)) for scope, spans in scopes]
        written.append(delimited(_RESOURCE_SPANS, holder + b"".join(held)))
    return b"".join(written)


def _ids(span: Any) -> tuple[str, str, bool]:
    """Return the ids of a span's trace and of itself, and whether it is a root. Raises InvalidDocument."""
    trace_id, span_id, parent_id = span.trace_id, span.span_id, span.parent_span_id
    usual = len(trace_id) == 16 and trace_id != _NO_TRACE and len(span_id) == 8 and span_id != _NO_SPAN
    if not usual or (parent_id and (len(parent_id) != 8 or parent_id == _NO_SPAN)):
        ids_of({"traceId": trace_id.hex(), "spanId": span_id.hex(), "parentSpanId": parent_id.hex()})
    return trace_id.hex(), span_id.hex(), not parent_id


def _above_message(message: Any, holder: str) -> bytes:
    """Return the fields of a message that holds spans, without the spans."""
    inner = delimited(_HOLDER, getattr(message, holder).SerializeToString()) if message.HasField(holder) else b""
    return inner + (delimited(_SCHEMA, message.schema_url.encode()) if message.schema_url else b"")
