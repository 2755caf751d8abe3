"""Look at sources that are due, keep and tell what changed there, and publish it, with a run where it is wanted."""

from __future__ import annotations

import time
from typing import Any

from django.db import transaction

from reports.tool_drift.consequences import gold_effect, runs_with, touched_pairs
from toolevals.agents.connectors import CONNECTORS
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.models import RegistryVersion, ToolList, ToolSource
from toolevals.registry.sources.reading import source_read
from toolevals.registry.sources.services import look_keep, look_tools, source_look_ask, source_publish, source_take
from toolevals.registry.tool_drift import drift_counts, drift_words, tool_drift
from toolevals.registry.tool_lists import tools_in
from toolevals.runs.models import Connector, Run
from toolevals.runs.runs.repeating import run_repeat
from toolevals.workspace.addresses import address
from toolevals.workspace.jobs.turns import can_ring, ring_task
from toolevals.workspace.models import EventKind, Queue, User
from toolevals.workspace.notifications.events import count_words, event_note
from toolevals.workspace.secrets.services import refusals_kept

TASK = "reports.sources_look"


def sources_due(now: Any) -> None:
    """Ring where a source is to be looked at. A broker that is down is logged: the next round rings again."""
    if can_ring() and ToolSource.objects.due(now).exists():
        ring_task(TASK, Queue.IO)


def look_ask(*, source: ToolSource) -> None:
    """Have a source looked at now, by a worker."""
    with transaction.atomic():
        source_look_ask(source=source)
        if can_ring():
            transaction.on_commit(lambda: ring_task(TASK, Queue.IO), robust=True)


def sources_look(*, seconds: float = 20.0) -> int:
    """Look at what is due, so long at most; return at how many. One whose worker is killed is looked at once more."""
    until, done = time.monotonic() + seconds, 0
    while time.monotonic() < until and (source := source_take()) is not None:
        _look(source)
        done += 1
    return done


def _look(source: ToolSource) -> None:
    """Read a source, keep what it lists with what that means, and tell of it where it is news."""
    try:
        read = source_read(source)
        tools = look_tools(source, read)
    except InvalidDocument as error:
        first = error.problems[0]
        look_keep(source, error=f"{first.pointer} {first.message}".strip())
        return
    losses = [{"pointer": loss.pointer, "message": loss.message} for loss in read.losses]
    newest = newest_version(source)
    if newest is None:
        look_keep(source, tools=tools, losses=losses)
        return
    after = tools_in(tools)
    changes = tool_drift(tools_in(newest.tools), after)
    effect = gold_effect(newest, after, changes)
    facts: dict[str, int] = {str(kind): count for kind, count in drift_counts(changes).items()}
    facts |= {"gold": int(effect["count"]), "pairs": len(touched_pairs(newest, changes))}
    with transaction.atomic():
        kept = look_keep(source, tools=tools, losses=losses, compared=newest, effect=effect)
        if kept and changes and source.told != tools.digest:
            _tell(source, tools, facts)
            ToolSource.objects.filter(pk=source.pk).update(told=tools.digest)
        elif kept and not changes:
            # What changes back, and then again, is news again.
            ToolSource.objects.filter(pk=source.pk).update(told="")


def _tell(source: ToolSource, tools: ToolList, facts: dict[str, int]) -> None:
    registry = source.registry
    counts = {kind: facts[kind] for kind in drift_counts(())}
    summary = (
        f"The source of {registry.name} differs from what is published: {drift_words(counts)} "
        f"({count_words(facts['gold'], 'gold label no longer validates', 'gold labels no longer validate')}, "
        f"{count_words(facts['pairs'], 'confused pair is', 'confused pairs are')} touched)"
    )
    event_note(
        project=registry.project,
        kind=EventKind.TOOLS_CHANGED,
        summary=summary,
        path=address("reports:tool-source", registry.project.slug, registry.slug),
        facts={"registry": registry.slug, "published": False, "tools": tools.size, **facts},
    )


def newest_version(source: ToolSource) -> RegistryVersion | None:
    """Return the newest version of a source's registry, or None."""
    rows = RegistryVersion.objects.filter(registry=source.registry_id).select_related("registry__project", "tools")
    return rows.order_by("-number").first()


def repeatable_run(version: RegistryVersion | None) -> Run | None:
    """Return the newest run with a registry's tools whose agent can be asked again, or None."""
    if version is None:
        return None
    found: Run | None = runs_with(version).filter(agent__connector__in=[*CONNECTORS, Connector.BASELINE]).first()
    return found


def drift_publish(
    *, source: ToolSource, actor: User, look: str, note: str = "", with_run: bool = False
) -> tuple[RegistryVersion, Run | None]:
    """Publish what the last good look saw and, where it is wanted, repeat the newest run with it: both or none.

    `look` is the digest of the tools that the person was shown. Raises InvalidDocument.
    """
    with refusals_kept(), transaction.atomic():
        version = source_publish(source=source, actor=actor, look=look, note=note)
        if not with_run:
            return version, None
        run = repeatable_run(version)
        if run is None:
            raise InvalidDocument.at("/run", "needs a run whose agent can be asked: start one first")
        return version, run_repeat(run=run, actor=actor, tools=version)
