"""Cuts an export of spans in protobuf into what is stored of each trace: spans stay the messages that they are.

Their values are of the right types already, and nest less deeply than a span may, so their ids alone are checked. They
become JSON when someone reads the trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from toolevals.grading.reading.telemetry.otlp import ids_of
from toolevals.grading.values.problems import InvalidDocument
from toolevals.traces.intake.encodings import delimited
from toolevals.traces.intake.sorting import Piece, Sorted, grouped, is_sampled, require_size

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
        holder = _above(resource_spans, "resource")
        for below, scope_spans in enumerate(resource_spans.scope_spans):
            scope = _above(scope_spans, "scope")
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


def _above(message: Any, holder: str) -> bytes:
    """Return the fields of a message that holds spans, without the spans."""
    inner = delimited(_HOLDER, getattr(message, holder).SerializeToString()) if message.HasField(holder) else b""
    return inner + (delimited(_SCHEMA, message.schema_url.encode()) if message.schema_url else b"")
