"""Cut an export into what is stored of each trace, and into spans that are rejected."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from toolevals.grading.files.evaluation_files.entry import keys
from toolevals.grading.reading.telemetry.otlp import Exported, exported_in
from toolevals.grading.values.problems import InvalidDocument

# Of one span as it is stored: the longest conversations of agents have a tenth of it.
SPAN_MAX_BYTES: Final = 4 * 1024 * 1024
# So many rejected spans are named in an answer, each with the first thing that is wrong.
NAMED: Final = 5
# What OTLP knows of a span. Everything else is ignored, as it demands.
_KNOWN: Final = keys(
    "traceId spanId parentSpanId name kind startTimeUnixNano endTimeUnixNano attributes events links status traceState "
    "flags droppedAttributesCount droppedEventsCount droppedLinksCount"
)
_IDS: Final = ("traceId", "spanId", "parentSpanId")

Change = Callable[[Mapping[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Piece:
    """One span as it is stored: JSON of OTLP, and what holds it. `is_root` says that no span is above it."""

    span_id: str
    is_root: bool
    document: bytes
    resource_spans: Mapping[str, Any]
    scope_spans: Mapping[str, Any]


@dataclass(slots=True)
class Sorted:
    """The spans of an export by their trace, and how many are not taken and why.

    `left_out` counts those of traces that the sampling rate leaves out, which is no failure.
    """

    traces: dict[str, dict[str, Piece]] = field(default_factory=dict)
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


def sorted_spans(document: Mapping[str, Any], *, rate: float = 1.0, change: Change | None = None) -> Sorted:
    """Return the spans of an export by trace; of an id that comes twice the first counts.

    `change` takes out what may not be stored; it is given each span, and what holds spans. Raises InvalidDocument
    where the lists that hold spans are none, or where a resource cannot be read.
    """
    found = Sorted()
    holders: dict[int, Mapping[str, Any]] = {}
    for each in exported_in(document):
        if isinstance(each.span, InvalidDocument):
            problem = each.span.problems[0]
            found.reject(f"{each.pointer}{problem.pointer} {problem.message}.")
            continue
        if not is_sampled(each.span.trace_id, rate):
            found.left_out += 1
            continue
        try:
            piece = _piece(each, holders, change)
        except InvalidDocument as error:
            found.reject(f"{each.pointer} {error.problems[0].message}.")
            continue
        found.traces.setdefault(each.span.trace_id, {}).setdefault(piece.span_id, piece)
    return found


def _piece(each: Exported, holders: dict[int, Mapping[str, Any]], change: Change | None) -> Piece:
    item = {key: value for key, value in each.item.items() if key in _KNOWN}
    for key in _IDS:
        if isinstance(item.get(key), str):
            item[key] = item[key].lower()
    document = _written(change(item) if change else item)
    if len(document) > SPAN_MAX_BYTES:
        raise InvalidDocument.at("", f"is larger than {SPAN_MAX_BYTES:,} bytes")
    above = each.resource_spans, each.scope_spans
    for holder in above:
        if id(holder) not in holders:
            holders[id(holder)] = _holder(holder, change)
    resource_spans, scope_spans = (holders[id(holder)] for holder in above)
    span = each.span
    return Piece(span.span_id, not span.parent_id, document, resource_spans, scope_spans)  # type: ignore[union-attr]


def _holder(holder: Mapping[str, Any], change: Change | None) -> Mapping[str, Any]:
    """Return what holds spans without them."""
    kept = {key: holder[key] for key in ("resource", "scope", "schemaUrl") if holder.get(key)}
    kept = {key: change(value) if change and isinstance(value, Mapping) else value for key, value in kept.items()}
    return {key: orjson.Fragment(_written(value)) for key, value in kept.items()}


def _written(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        # What the reader ignores may still be nested without end, or hold half of a character.
        raise InvalidDocument.at("", "cannot be kept as JSON") from None


def stored_document(pieces: Sequence[Piece]) -> bytes:
    """Return pieces of one trace as one export of OTLP: what is written is read by the reader of exports."""
    resources: dict[int, tuple[Mapping[str, Any], dict[int, tuple[Mapping[str, Any], list[Any]]]]] = {}
    for piece in pieces:
        _, scopes = resources.setdefault(id(piece.resource_spans), (piece.resource_spans, {}))
        _, spans = scopes.setdefault(id(piece.scope_spans), (piece.scope_spans, []))
        spans.append(orjson.Fragment(piece.document))
    return orjson.dumps(
        {
            "resourceSpans": [
                {**resource, "scopeSpans": [{**scope, "spans": spans} for scope, spans in scopes.values()]}
                for resource, scopes in resources.values()
            ]
        }
    )
