"""Stores spans: a key for each, so that none is stored twice, and what one batch brought of one trace, packed."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from toolevals.traces.models.traces import Trace


class Span(models.Model):
    """The key of a span that is stored."""

    trace = models.ForeignKey(Trace, on_delete=models.CASCADE, related_name="span_keys", db_index=False)
    # 16 hexadecimal digits.
    span_id = models.CharField(max_length=16)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["trace", "span_id"], name="span_of_a_trace"),
        ]


class SpanChunk(models.Model):
    """The new spans of a trace in one batch: an export of OTLP in JSON, packed by zstd. Never changed."""

    trace = models.ForeignKey(Trace, on_delete=models.CASCADE, related_name="chunks")
    body = models.BinaryField()
