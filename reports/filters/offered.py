"""Read the tools that the examples of a grading offer, by name, in the words that the agent was given."""

from __future__ import annotations

from collections.abc import Iterable

from django.core.cache import cache

from labeling.models import VersionEntry
from reports.filters.case_filters import Effect
from toolevals.grading.values import ToolSpec
from toolevals.registry.models import ToolListEntry
from toolevals.runs.models import Grading
from toolevals.runs.queries import tools_offered

A_DAY = 24 * 3600


def specs_by_name(grading: Grading) -> dict[str, tuple[ToolSpec, ...]]:
    """Return every offered spec by its tool's name: several where examples offer the same name in other words."""
    lists = VersionEntry.objects.filter(version=grading.run.dataset_version_id).values("revision__tools")
    rows = ToolListEntry.objects.filter(tools__in=lists).order_by("spec_id").values_list("spec__document", flat=True)
    specs = tools_offered([ToolSpec.from_document(row) for row in rows.distinct()], grading.run.agent)
    found: dict[str, dict[str, ToolSpec]] = {}
    for spec in specs:
        found.setdefault(spec.name, {})[spec.digest] = spec
    return {name: tuple(each.values()) for name, each in found.items()}


def effects_by_name(grading: Grading) -> dict[str, Effect]:
    """Return what each tool does to the world; kept, because a finished grading does not change."""
    key = f"reports:effects:{grading.pk}"
    found: dict[str, Effect] | None = cache.get(key)
    if found is None:
        found = {name: _effect(specs) for name, specs in specs_by_name(grading).items()}
        cache.set(key, found, timeout=A_DAY)
    return found


def costs_by_name(grading: Grading) -> dict[str, float]:
    """Return what one call of each tool costs relative to the others, where its owner says so, and says one thing."""
    key = f"reports:costs:{grading.pk}"
    found: dict[str, float] | None = cache.get(key)
    if found is None:
        said = {name: {spec.cost for spec in specs} for name, specs in specs_by_name(grading).items()}
        found = {
            name: cost for name, costs in said.items() if len(costs) == 1 and (cost := next(iter(costs))) is not None
        }
        cache.set(key, found, timeout=A_DAY)
    return found


def _effect(specs: Iterable[ToolSpec]) -> Effect:
    """A tool writes where any of its specs does, and reads where all of them say so."""
    said = {spec.annotations.read_only for spec in specs}
    if False in said:
        return Effect.WRITE
    return Effect.READ if said == {True} else Effect.UNSAID
