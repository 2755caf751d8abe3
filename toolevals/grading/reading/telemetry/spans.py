"""Defines spans of OpenTelemetry as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Status = Literal["unset", "ok", "error"]


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """One event of a span. `time` is in nanoseconds since 1970."""

    name: str
    time: int
    attributes: Mapping[str, Any] = field(default_factory=dict)


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
    attributes: Mapping[str, Any] = field(default_factory=dict)
    events: tuple[SpanEvent, ...] = ()
    status: Status = "unset"
    status_message: str = ""
    resource: Mapping[str, Any] = field(default_factory=dict)
    scope: str = ""
    scope_version: str = ""
    schema_url: str = ""
    dropped: Mapping[str, int] = field(default_factory=dict)
