"""Makes the table of tools in production as an address asks for it, with the changes that are marked in it.

Page, file and REST show the same marks, since each is corrected for all rates of the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final

from django.utils import timezone

from toolevals.traces.production.tool_figures import SPLITS, ToolFigures, counts_of, figures_of, tool_figures
from toolevals.traces.reading.filters import TraceFilter
from toolevals.traces.tool_changes import ToolChange, days_before, tool_changes
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project

# Days that are shown unless others are asked for, today included.
DAYS: Final = 7
MOST_ROWS: Final = 500


@dataclass(frozen=True, slots=True)
class ToolTable:
    """Rows, the most called tools first, of which the first are `shown`, and the changes in these by (tool, part)."""

    figures: Sequence[ToolFigures]
    changes: Mapping[tuple[str, str], Sequence[ToolChange]]

    @property
    def shown(self) -> Sequence[ToolFigures]:
        """The rows in which changes are looked for."""
        return self.figures[:MOST_ROWS]

    @property
    def marks(self) -> list[ToolChange]:
        """The changes in the order of the rows."""
        return [change for each in self.shown for change in self.changes.get((each.tool, each.part), ())]


def tool_filter(parameters: Mapping[str, Any]) -> tuple[TraceFilter, str]:
    """Return the days, agent, version and tool that an address asks for, and what the table is split by, or nothing."""
    said = dict(parameters)
    if "since" not in said:
        said["since"] = str(timezone.localdate(database_now()) - timedelta(days=DAYS - 1))
    split = str(said.get("by", ""))
    return TraceFilter.of(said), split if split in SPLITS else ""


def tool_table(project: Project, trace_filter: TraceFilter, split: str) -> ToolTable:
    """Return the figures of the calls that a filter is about, with what surely changed."""
    days = None if split else days_before(trace_filter)
    if days is None:
        figures, earlier = tool_figures(project, trace_filter, split), []
    else:
        # Both are read at once: the days before end where these begin.
        first = date.fromisoformat(trace_filter.since)
        counted = [*counts_of(project, trace_filter, (days.times[0], trace_filter.times[1]))]
        figures = figures_of(each for each in counted if each.day >= first)
        earlier = figures_of(each for each in counted if each.day < first)
    return ToolTable(figures, tool_changes(project, trace_filter, split, figures[:MOST_ROWS], earlier))
