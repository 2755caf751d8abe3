"""Read the examples that a run takes of its dataset version: all of them, or those at some positions."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet

from labeling.models import VersionEntry
from toolevals.grading.json_schema.reasons import SchemaReason, call_reason
from toolevals.grading.values import ToolCall, ToolSpec, Transcript
from toolevals.grading.values.tools import candidates
from toolevals.registry.tool_lists import tools_in
from toolevals.runs.models import Agent, CaseGrade, Run


def tools_offered(tools: Sequence[ToolSpec], agent: Agent) -> tuple[ToolSpec, ...]:
    """Return an example's tools as the agent knows them: in its own wording, matched by name, where it has one."""
    if agent.tools is None:
        return tuple(tools)
    own = {spec.name: spec for spec in tools_in(agent.tools.tools)}
    return tuple(own.get(spec.name, spec) for spec in tools)


def entries_between(run: Run, start: int, stop: int) -> QuerySet[VersionEntry, Any]:
    """Return the entries that the run takes at positions from `start` up to `stop`, in order."""
    entries = VersionEntry.objects.filter(version=run.dataset_version_id).order_by("position")
    if run.only is None:
        return entries.filter(position__gte=start, position__lt=stop)
    part = run.only[bisect_left(run.only, start) : bisect_left(run.only, stop)]
    return entries.filter(position__in=part)


def schema_reasons(case: CaseGrade) -> list[tuple[int, SchemaReason]]:
    """Return the place of each call that breaks its schema by the grading, and why, where that is found quickly."""
    places = sorted({problem["call"] for problem in case.detail["schema_problems"]})
    document = case.transcript.document
    if not places or document is None:
        return []
    tools = {
        tool.name: tool
        for tool in tools_offered(tools_in(case.transcript.entry.revision.tools), case.grading.run.agent)
    }
    calls = Transcript.from_document(document).calls
    found = []
    for place in places:
        call = calls[place] if place < len(calls) else None
        if not isinstance(call, ToolCall):
            continue
        names = [call.name] if call.name in tools else candidates(call.name, tools.values())
        if len(names) == 1 and (reason := call_reason(tools[names[0]], call.arguments)) is not None:
            found.append((place, reason))
    return found
