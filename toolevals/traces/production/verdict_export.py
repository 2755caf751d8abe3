"""Writes verdicts of online rules as OpenTelemetry's evaluation events in OTLP JSON lines, and as rows of CSV.

Each has an id that follows from its trace, rule and span: the same verdict has the same id in every export. What is
closed to who asks (`toolevals.traces.blindness`) is left out: a verdict tells what the agent did.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID, uuid5

from django.db.models import QuerySet

from toolevals.json_types import JsonObject
from toolevals.presentation.csv import Cell
from toolevals.traces.blindness import closed_to
from toolevals.traces.models import SpanVerdict, Trace
from toolevals.traces.reading.filters import TraceFilter
from toolevals.workspace.models import Project, Role
from toolevals.workspace.paging import pages_of

EVENT: Final = "gen_ai.evaluation.result"
VERDICTS: Final = (
    "verdict_id", "trace_id", "otel_trace_id", "span_id", "received_at", "agent", "agent_version", "rule",
    "rule_version", "status", "value", "reason", "judge", "judge_model", "judge_cost",
    "judge_span_kind",
)  # fmt: skip
_INFO: Final = {"severityNumber": 9, "severityText": "INFO"}


@dataclass(frozen=True, slots=True)
class ExportedVerdict:
    """A verdict with its trace and its stable id."""

    verdict_id: UUID
    trace: Trace
    verdict: SpanVerdict


def exported_verdicts(project: Project, role: Role, trace_filter: TraceFilter) -> Iterator[list[ExportedVerdict]]:
    """Yield the verdicts on each trace that a filter shows and that is open to the role, the newest trace first."""
    for page in pages_of(trace_filter.traces(project, role).exclude(closed_to(project, role))):
        of_trace: dict[UUID, list[SpanVerdict]] = {}
        for verdict in _verdicts(page):
            of_trace.setdefault(verdict.trace_id, []).append(verdict)
        for trace in page:
            if found := of_trace.get(trace.pk):
                yield list(_with_ids(trace, found))


def _verdicts(traces: Sequence[Trace]) -> QuerySet[SpanVerdict]:
    found = SpanVerdict.objects.filter(trace__in=[each.pk for each in traces])
    return found.select_related("judge__judge").order_by("trace", "number")


def verdict_lines(project: Project, role: Role, trace_filter: TraceFilter) -> Iterator[bytes]:
    """Yield one line for each trace: a batch of log records, as OTLP writes files and collectors read them."""
    for found in exported_verdicts(project, role, trace_filter):
        yield json.dumps(_batch(found), separators=(",", ":")).encode() + b"\n"


def verdict_rows(project: Project, role: Role, trace_filter: TraceFilter) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each verdict; the columns are `VERDICTS`."""
    for found in exported_verdicts(project, role, trace_filter):
        for each in found:
            trace, verdict = each.trace, each.verdict
            yield (
                each.verdict_id, trace.pk, trace.trace_id.hex, verdict.span_id, trace.received_at, trace.agent,
                trace.agent_version, verdict.rule, verdict.version, verdict.status, verdict.value, verdict.reason,
                verdict.judge.judge.name if verdict.judge else None, verdict.snapshot, verdict.judge_cost,
                verdict.judge.span_kind if verdict.judge else None,
            )  # fmt: skip


def _with_ids(trace: Trace, verdicts: list[SpanVerdict]) -> Iterator[ExportedVerdict]:
    before = Counter[str]()
    for verdict in verdicts:
        # One judge may follow another by the same rubric.
        whose = f" {verdict.judge.judge_id}" if verdict.judge else ""
        name = f"{verdict.rule} {verdict.version} {verdict.span_id}{whose}"
        # Calls that no span ran follow each other in the conversation.
        yield ExportedVerdict(uuid5(trace.pk, f"{name} {before[name]}"), trace, verdict)
        before[name] += 1


def _batch(verdicts: list[ExportedVerdict]) -> JsonObject:
    trace = verdicts[0].trace
    resource = {"service.name": trace.agent, "service.version": trace.agent_version}
    records = [_record(each) for each in verdicts]
    return {
        "resourceLogs": [
            {
                "resource": {"attributes": _attributes({key: said for key, said in resource.items() if said})},
                "scopeLogs": [{"scope": {"name": "toolevals.online_rules"}, "logRecords": records}],
            }
        ]
    }


def _record(each: ExportedVerdict) -> JsonObject:
    verdict, trace = each.verdict, each.trace
    at = _nanoseconds(trace.received_at)
    said: JsonObject = {
        "gen_ai.evaluation.name": verdict.rule,
        "gen_ai.evaluation.score.value": verdict.value,
        "gen_ai.evaluation.score.label": verdict.status,
        "gen_ai.evaluation.explanation": verdict.reason or None,
        "error.type": "_OTHER" if verdict.status == "errored" else None,
        "toolevals.verdict.id": str(each.verdict_id),
        "toolevals.rule.version": verdict.version,
        "toolevals.judge.name": verdict.judge.judge.name if verdict.judge else None,
        "toolevals.judge.model": verdict.snapshot or None,
        "toolevals.judge.cost": verdict.judge_cost,
        "toolevals.judge.span_kind": (verdict.judge.span_kind if verdict.judge else None) or None,
    }
    record = {"timeUnixNano": at, "observedTimeUnixNano": at, **_INFO, "eventName": EVENT}
    record |= {"attributes": _attributes({key: value for key, value in said.items() if value is not None})}
    record |= {"traceId": trace.trace_id.hex}
    return record | ({"spanId": verdict.span_id} if verdict.span_id else {})


def _attributes(said: JsonObject) -> list[JsonObject]:
    return [{"key": key, "value": _value(value)} for key, value in said.items()]


def _value(value: str | float) -> JsonObject:
    """Return a value as OTLP's JSON writes it: whole numbers as text."""
    if isinstance(value, str):
        return {"stringValue": value}
    return {"intValue": str(value)} if isinstance(value, int) else {"doubleValue": value}


def _nanoseconds(at: datetime) -> str:
    return str(round(at.timestamp() * 1_000_000) * 1000)
