"""Read a source with what changed there since the newest version, and what that means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reports.tool_drift.consequences import Misfit, TouchedPair, misfits_of, touched_pairs
from reports.tool_drift.services import newest_version, repeatable_run
from toolevals.registry.models import Registry, RegistryVersion, ToolSource
from toolevals.registry.tool_drift import Drift, DriftKind, drift_counts, drift_words, tool_drift
from toolevals.registry.tool_lists import tools_in
from toolevals.runs.live.estimate import Estimate
from toolevals.runs.models import Run
from toolevals.runs.runs.repeating import estimate_of_repeat
from toolevals.workspace.clock import database_now


@dataclass(frozen=True, slots=True)
class SourceView:
    """A source, the newest version, what differs between them, and what it means for gold and confused pairs.

    `is_counted` says whether gold was counted for these changes: the next look counts it otherwise. `gold` may be more
    than the `misfits` that are kept by name.
    """

    source: ToolSource
    newest: RegistryVersion | None
    changes: tuple[Drift, ...]
    misfits: tuple[Misfit, ...]
    pairs: tuple[TouchedPair, ...]
    is_counted: bool
    is_waiting: bool

    @property
    def counts(self) -> Mapping[DriftKind, int]:
        return drift_counts(self.changes)

    @property
    def counts_words(self) -> str:
        return drift_words(self.counts)

    @property
    def look(self) -> str:
        """Return the digest of the tools that the last good look saw."""
        return self.source.tools.digest if self.source.tools else ""

    @property
    def gold(self) -> int | None:
        """Return how many gold labels no longer validate; None where that is not counted."""
        if not self.is_counted:
            return None
        effect = self.source.effect
        left_out = effect["count"] - len(effect["misfits"])
        return len(self.misfits) + int(left_out)

    @property
    def is_whole(self) -> bool:
        """Return whether all gold was read that could be touched."""
        return bool(self.source.effect and self.source.effect["is_whole"])

    @property
    def run(self) -> Run | None:
        """Return the run that a click repeats with the new version."""
        return repeatable_run(self.newest) if self.changes else None

    @property
    def estimate(self) -> Estimate | None:
        """Return what that takes at least."""
        run = self.run
        return estimate_of_repeat(run) if run is not None else None


def source_of(registry: Registry) -> ToolSource | None:
    """Return a registry's source, with everything that is shown of it."""
    return ToolSource.objects.with_everything().filter(registry=registry).first()


def source_view(source: ToolSource) -> SourceView:
    """Return a source with what changed there."""
    newest = newest_version(source)
    changes: tuple[Drift, ...] = ()
    if source.tools is not None:
        changes = tool_drift(tools_in(newest.tools) if newest else (), tools_in(source.tools))
    is_counted = newest is not None and source.compared_id == newest.pk and source.effect is not None
    return SourceView(
        source,
        newest,
        changes,
        tuple(misfits_of(source.registry.project, source.effect)) if is_counted and changes else (),
        tuple(touched_pairs(newest, changes)) if newest else (),
        is_counted,
        source.is_waiting(database_now()),
    )
