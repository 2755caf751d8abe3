"""Stores spans: what one batch brought of one trace, packed, with the keys by which none is stored twice."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from django.db import models

from toolevals.traces.models.traces import Trace

# Of each key: a span's id of 16 hexadecimal digits, or what stands for that of a log record.
KEY_LENGTH: Final = 16


class SpanChunk(models.Model):
    """The new spans of a trace in one batch: an export of OTLP as it came, in protobuf or JSON, packed by zstd.

    It is never changed. The worker that adds one holds the trace's row and has read the keys of those before it: so no
    key is in two.
    """

    trace = models.ForeignKey(Trace, on_delete=models.CASCADE, related_name="chunks")
    # The keys of its spans and log records, one after the other.
    keys = models.TextField()
    body = models.BinaryField()


def keys_join(keys: Iterable[str]) -> str:
    """Return keys as a chunk holds them."""
    return "".join(keys)


def keys_split(joined: str) -> list[str]:
    """Return the keys that a chunk holds."""
    return [joined[at : at + KEY_LENGTH] for at in range(0, len(joined), KEY_LENGTH)]
