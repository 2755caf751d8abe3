"""Find in words why the calls of a case broke their tools' schemas."""

from __future__ import annotations

from toolevals.grading.json_schema.reasons import SchemaReason, call_reason
from toolevals.grading.values import ToolCall, Transcript
from toolevals.grading.values.tools import candidates
from toolevals.registry.tool_lists import tools_in
from toolevals.runs.models import CaseGrade
from toolevals.runs.scope.offered_tools import tools_offered


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
