"""Tell what two runs' agents were offered otherwise: the words of tools, and what moved with them."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from reports.compare.analysis import RunComparison
from reports.compare.matrix import ToolDelta
from reports.compare.queries import TwoRuns
from toolevals.grading.values import ToolSpec
from toolevals.registry.changes import ToolChange, version_changes
from toolevals.registry.models import ToolListEntry
from toolevals.registry.tool_lists import tools_in
from toolevals.runs.models import Run

# The tools that a version offers are read from its first examples.
READ_EXAMPLES = 500


@dataclass(frozen=True, slots=True)
class ToolMoved:
    """A tool that was worded otherwise, and its row in the comparison; None where nothing expects or calls it."""

    change: ToolChange
    moved: ToolDelta | None


def registry_change(runs: TwoRuns, comparison: RunComparison) -> tuple[ToolMoved, ...]:
    """Return the tools that the two agents knew in other words; what moved most first.

    Examples that both runs hold offer the same tools, so only an agent's own wording can differ.
    """
    before, after = (_wording(run) for run in (runs.before, runs.after))
    if before == after:
        return ()
    both = before.keys() & after.keys()
    offered = _offered(runs.before, before.keys() ^ after.keys())
    sides = [[own.get(name) or offered[name] for name in sorted(both | offered.keys())] for own in (before, after)]
    rows = {row.name: row for row in comparison.tools}
    changes = [ToolMoved(change, rows.get(change.name)) for change in version_changes(*sides)]
    return tuple(sorted(changes, key=lambda each: -each.moved.moved if each.moved else 0))


def _wording(run: Run) -> dict[str, ToolSpec]:
    tools = run.agent.tools
    return {spec.name: spec for spec in tools_in(tools.tools)} if tools else {}


def _offered(run: Run, names: Set[str]) -> Mapping[str, ToolSpec]:
    """Return how the dataset itself words those of these tools that it offers, each as the first example has it."""
    if not names:
        return {}
    entries = run.dataset_version.entries.order_by("position").filter(position__lt=READ_EXAMPLES)
    lists = list(dict.fromkeys(entries.values_list("revision__tools", flat=True)))
    rows = ToolListEntry.objects.filter(tools__in=lists, spec__name__in=list(names)).order_by("tools", "position")
    tools: dict[str, ToolSpec] = {}
    for document in rows.values_list("spec__document", flat=True):
        spec = ToolSpec.from_document(document)
        tools.setdefault(spec.name, spec)
    return tools
