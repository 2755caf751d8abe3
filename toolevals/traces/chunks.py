"""The spans of a trace, read from what is stored of it."""

from __future__ import annotations

from collections.abc import Iterator

import orjson
import zstandard

from toolevals.grading.reading.telemetry.otlp import spans_in
from toolevals.grading.reading.telemetry.spans import TelemetrySpan
from toolevals.grading.values.problems import InvalidDocument
from toolevals.traces.models import Trace


def spans_of(trace: Trace) -> list[TelemetrySpan]:
    """Return the spans of a trace, as they began."""
    return sorted(_spans(trace), key=lambda span: (span.start, span.span_id))


def _spans(trace: Trace) -> Iterator[TelemetrySpan]:
    unpacker = zstandard.ZstdDecompressor()
    for body in trace.chunks.order_by("pk").values_list("body", flat=True):
        for _, span in spans_in(orjson.loads(unpacker.decompress(bytes(body)))):
            # Those that cannot be read were rejected at the door.
            if not isinstance(span, InvalidDocument):
                yield span
