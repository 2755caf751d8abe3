"""Read the run and the grading that a page, an answer or a batch is about, and the examples that a run takes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404

from labeling.models import VersionEntry
from toolevals.grading.json_schema.reasons import SchemaReason, call_reason
from toolevals.grading.values import ToolCall, ToolSpec, Transcript
from toolevals.grading.values.tools import candidates
from toolevals.registry.tool_lists import tools_in
from toolevals.runs.models import Agent, CaseGrade, Grading, Run
from toolevals.workspace.models import Project
from toolevals.workspace.requests import whole_number

# Above all numbers of a column: PostgreSQL refuses to compare with more.
TOO_LARGE = 2**31


def numbered_run(project: Project, number: int) -> Run | None:
    """Return the project's run of that number as a list of runs has it, with `newest_version` and `newest_grading`."""
    if number >= TOO_LARGE:
        return None
    found: Run | None = Run.objects.in_project(project).with_newest().filter(number=number).first()
    return found


def shown_grading(run: Run, number: int | None) -> Grading | None:
    """Return the run's grading of that number, or the newest finished one; None where there is none."""
    found: Grading | None = None
    if number:
        found = _gradings(run=run, number=number).first() if number < TOO_LARGE else None
    elif run.grading_id:
        found = _gradings(run=run, pk=run.grading_id).first()
    if found is not None:
        found.run = run
    return found


def grading_at_work(pk: str) -> Grading:
    """Return a grading with all that its batches read of it. Raises Grading.DoesNotExist."""
    read = ("run__agent__tools__tools", "run__dataset_version", "dataset_version__dataset", "simulator")
    return Grading.objects.select_related(*read).get(pk=pk)


def _gradings(**wanted: Any) -> QuerySet[Grading]:
    return Grading.objects.filter(finished_at__isnull=False, **wanted).select_related("dataset_version__dataset")


def asked_grading(run: Run, number: str) -> Grading | None:
    """Return the run's finished grading of that number; without one the newest, None where none is finished.

    Raises Http404 where the run has no such grading.
    """
    if not number:
        return run.grading
    asked = whole_number(number)
    if asked is None:
        raise Http404
    return get_object_or_404(run.gradings, number=asked, finished_at__isnull=False)


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
