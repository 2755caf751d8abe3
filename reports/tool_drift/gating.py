"""Tell a gate what the sources of a run's tools list by now."""

from __future__ import annotations

from uuid import UUID

from django.utils.timezone import localtime

from labeling.models import VersionEntry
from toolevals.grading.gates.checks import ToolDriftSeen
from toolevals.registry.models import RegistryVersion, ToolSource
from toolevals.registry.tool_drift import AT_RISK, tool_drift
from toolevals.registry.tool_lists import tools_in
from toolevals.runs.models import Run


def tool_drift_seen(run: Run) -> ToolDriftSeen | None:
    """Return what the last good looks at the sources of a run's tools saw; None where none of them was ever read.

    A run's tools are those that its agent is given, else the versions of registries that its examples offer.
    """
    versions = _versions(run)
    sources = ToolSource.objects.with_everything().filter(
        registry__in=list(versions), registry__deleted_at=None, tools__isnull=False
    )
    at_risk, notes = list[str](), list[str]()
    for source in sources.order_by("registry__slug"):
        version = versions[source.registry_id]
        assert source.tools is not None
        changes = tool_drift(tools_in(version.tools), tools_in(source.tools))
        at_risk += (
            f"{' '.join(filter(None, (change.tool, change.argument)))}, {change.what} ({change.kind_words})"
            for change in changes
            if change.kind in AT_RISK
        )
        seen = f"{localtime(source.seen_at):%d %B %Y, %H:%M}" if source.seen_at else "an unknown time"
        later = " A later look failed." if source.error else ""
        notes.append(f"{version} against its source as of {seen}.{later}")
    return ToolDriftSeen(tuple(at_risk), " ".join(notes)) if notes else None


def _versions(run: Run) -> dict[UUID, RegistryVersion]:
    """Return the versions of a run's tools by their registry: of each registry the newest that it has."""
    rows = RegistryVersion.objects.select_related("registry", "tools")
    if run.agent.tools_id is not None:
        found = rows.filter(pk=run.agent.tools_id)
    else:
        lists = VersionEntry.objects.filter(version=run.dataset_version_id).values("revision__tools")
        found = rows.filter(tools__in=lists, registry__project=run.project_id)
    return {version.registry_id: version for version in found.order_by("number")}
