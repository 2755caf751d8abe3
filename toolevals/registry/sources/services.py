"""Tell what is done to sources: keep and forget them, take one to look at, keep what was seen, publish it."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import F

from toolevals.agents.options import McpOptions
from toolevals.grading.reading.specs import ReadTools
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping
from toolevals.registry.mcp_servers import mcp_access
from toolevals.registry.models import Registry, RegistryVersion, ToolList, ToolSource
from toolevals.registry.services import published_specs, tools_publish
from toolevals.registry.sources.models import PERIODS, SourceKind, SourceSchedule
from toolevals.registry.tool_lists import tool_list_of, tools_in
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import User

# Longer than any look takes; after it another worker may look.
LEASE: Final = timedelta(minutes=5)
MOST_ATTEMPTS: Final = 3
MOST_LOSSES: Final = 200
MOST_TAGS: Final = 50
LONGEST_TAG: Final = 200


def source_set(
    *,
    registry: Registry,
    actor: User | None,
    kind: str,
    options: JsonMapping,
    schedule: str = SourceSchedule.OFF,
    tags: Sequence[str] = (),
) -> ToolSource:
    """Keep where a registry's tools come from, in place of what was kept. Raises InvalidDocument.

    What was seen at another place is forgotten. With a schedule the first look is due at once.
    """
    if kind not in SourceKind.values:
        raise InvalidDocument.at("/kind", f"must be one of {', '.join(SourceKind.values)}")
    if schedule not in SourceSchedule.values:
        raise InvalidDocument.at("/schedule", f"must be one of {', '.join(SourceSchedule.values)}")
    place = McpOptions.from_document(options)
    if kind == SourceKind.OPENAPI and place.command:
        raise InvalidDocument.at("/command", "is for MCP servers: give the address of the document")
    if kind == SourceKind.MCP and tags:
        raise InvalidDocument.at("/tags", "are those of an OpenAPI document: leave them out")
    if len(tags) > MOST_TAGS or any(not tag or len(tag) > LONGEST_TAG for tag in tags):
        raise InvalidDocument.at("/tags", f"must be at most {MOST_TAGS}, each of 1 to {LONGEST_TAG} characters")
    # Outside of the transaction: what is refused is audited.
    mcp_access(registry.project, place, actor=actor)
    said: dict[str, Any] = place.to_document() | ({"tags": sorted(set(tags))} if tags else {})
    with transaction.atomic():
        Registry.objects.select_for_update().get(pk=registry.pk)
        before = ToolSource.objects.filter(registry=registry).first()
        is_same = before is not None and (before.kind, before.options) == (kind, said)
        source = before if before is not None and is_same else ToolSource(registry=registry, kind=kind, options=said)
        if before is not None and not is_same:
            before.delete()
        now = database_now()
        period = PERIODS.get(SourceSchedule(schedule))
        begins = source.looked_at + period if source.looked_at and period else now
        source.schedule, source.actor = schedule, actor
        source.due_at = None if period is None else max(now, begins)
        source.save()
        detail = {"registry": registry.slug, "kind": kind, "place": source.address, "schedule": schedule}
        audit_record(project=registry.project, actor=actor, verb="tool_source_set", target=registry, detail=detail)
    return source


@transaction.atomic
def source_forget(*, source: ToolSource, actor: User | None) -> None:
    """Forget where a registry's tools come from; its versions stay."""
    registry = source.registry
    detail = {"registry": registry.slug, "place": source.address}
    audit_record(project=registry.project, actor=actor, verb="tool_source_forget", target=registry, detail=detail)
    source.delete()


def source_look_ask(*, source: ToolSource) -> None:
    """Have a source looked at as soon as a worker is free; one that is being looked at is left alone."""
    ToolSource.objects.filter(pk=source.pk, attempts=0).update(due_at=database_now())


def source_take() -> ToolSource | None:
    """Take a source that is due, so that no other worker looks at it for a while; None where none is.

    One whose workers ended again and again is no longer tried: its look counts as failed.
    """
    while True:
        now, lease = database_now(), uuid.uuid4()
        first = ToolSource.objects.due(now).order_by("due_at").values_list("pk", flat=True).first()
        if first is None:
            return None
        mine = ToolSource.objects.filter(pk=first, due_at__lte=now)
        if not mine.update(lease=lease, due_at=now + LEASE, attempts=F("attempts") + 1):
            continue
        source = ToolSource.objects.with_everything().get(pk=first)
        if source.attempts <= MOST_ATTEMPTS:
            return source
        look_keep(source, error="The workers that looked ended before they had read it.")


def look_tools(source: ToolSource, read: ReadTools) -> ToolList:
    """Return the list of tools that publishing what was read would make.

    What people gave a tool and the source says nothing of stays: its cost, and the sensitive fields of its output.
    """
    newest = source.registry.versions.select_related("tools").first()
    before = {tool.name: tool for tool in tools_in(newest.tools)} if newest else {}
    specs = [_with_own(tool, before.get(tool.name)) for tool in published_specs(source.registry, read)]
    return tool_list_of(project=source.registry.project, specs=specs)


def _with_own(tool: ToolSpec, before: ToolSpec | None) -> ToolSpec:
    if before is None:
        return tool
    fields = tool.sensitive_output or (before.sensitive_output if tool.output_schema == before.output_schema else ())
    return replace(tool, cost=before.cost if tool.cost is None else tool.cost, sensitive_output=fields)


@transaction.atomic
def look_keep(
    source: ToolSource,
    *,
    error: str = "",
    tools: ToolList | None = None,
    losses: Sequence[JsonMapping] = (),
    compared: RegistryVersion | None = None,
    effect: JsonMapping | None = None,
) -> bool:
    """Keep what a look found, unless the source is another worker's by now; return whether it was kept.

    After a look that failed, what the last good one saw stays.
    """
    now = database_now()
    period = PERIODS.get(SourceSchedule(source.schedule))
    found: dict[str, Any] = {"error": error[:500], "looked_at": now, "lease": None, "attempts": 0}
    if tools is not None:
        found |= {"seen_at": now, "tools": tools, "losses": list(losses)[:MOST_LOSSES]}
        found |= {"compared": compared, "effect": effect}
    mine = ToolSource.objects.filter(pk=source.pk, lease=source.lease)
    # The schedule may have been changed meanwhile.
    kept = mine.filter(schedule=source.schedule).update(**found, due_at=now + period if period else None)
    return bool(kept or mine.update(**found))


def source_publish(*, source: ToolSource, actor: User | None, look: str, note: str = "") -> RegistryVersion:
    """Publish the tools that the last good look saw. Raises InvalidDocument where those are not `look`, by digest."""
    if source.tools is None:
        raise InvalidDocument.at("", "was never read: look first")
    if source.tools.digest != look:
        raise InvalidDocument.at("/look", "is not the last look any more: read the changes again")
    tools = list(tools_in(source.tools))
    losses = [Problem(each["pointer"], each["message"]) for each in source.losses]
    asserted = any(tool.assert_formats for tool in tools)
    read = ReadTools(tools, losses, source.kind)
    return tools_publish(registry=source.registry, actor=actor, read=read, note=note, assert_formats=asserted)
