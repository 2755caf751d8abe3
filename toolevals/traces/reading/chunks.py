"""Reads what is stored of a trace: its spans, each with its log records as events, and the tools of its project."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import orjson
import zstandard

from toolevals.grading.reading.telemetry.otlp import LogRecord, TelemetrySpan, records_in, spans_in, with_records
from toolevals.grading.reading.telemetry.otlp_protobuf import kept_traces_in_json
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonObject
from toolevals.registry.models import Registry, RegistryVersion
from toolevals.registry.tool_lists import tools_in
from toolevals.traces.models import Trace
from toolevals.workspace.models import Project


def spans_of(trace: Trace) -> list[TelemetrySpan]:
    """Return the spans of a trace, as they began."""
    return read_chunks(trace).spans


@dataclass(frozen=True, slots=True)
class Chunks:
    """Holds what is stored of a trace: its spans, as they began, and log records of spans that have not come."""

    spans: list[TelemetrySpan]
    lone: list[LogRecord]


def read_chunks(trace: Trace) -> Chunks:
    """Return what is stored of a trace."""
    spans: list[TelemetrySpan] = []
    records: dict[str, list[LogRecord]] = {}
    for document in _documents(trace):
        # Those that cannot be read were rejected at the door.
        spans += (span for _, span in spans_in(document) if not isinstance(span, InvalidDocument))
        for each in records_in(document):
            if not isinstance(each.record, InvalidDocument):
                records.setdefault(each.record.span_id, []).append(each.record)
    joined = [with_records(span, records.pop(span.span_id, ())) for span in spans]
    lone = [record for some in records.values() for record in some]
    return Chunks(
        sorted(joined, key=lambda span: (span.start, span.span_id)),
        sorted(lone, key=lambda record: record.event.time),
    )


def _documents(trace: Trace) -> Iterator[JsonObject]:
    unpacker = zstandard.ZstdDecompressor()
    for body in trace.chunks.order_by("pk").values_list("body", flat=True):
        yield document_in(unpacker.decompress(bytes(body)))


def document_in(export: bytes) -> JsonObject:
    """Return an export of OTLP, as it is stored, in the JSON form. A message of protobuf never begins with a brace."""
    return orjson.loads(export) if export.startswith(b"{") else kept_traces_in_json(export)


def registered_tools(project: Project) -> dict[str, ToolSpec]:
    """Return the tools of each registry's newest version by name; not those of which two registries say different."""
    found: dict[str, ToolSpec] = {}
    differing: set[str] = set()
    newest = [vars(each)["newest_id"] for each in Registry.objects.in_project(project).with_newest()]
    for version in RegistryVersion.objects.filter(pk__in=filter(None, newest)).select_related("tools"):
        for tool in tools_in(version.tools):
            if found.setdefault(tool.name, tool) != tool:
                differing.add(tool.name)
    return {name: tool for name, tool in found.items() if name not in differing}
