"""Marks a change of a tool's error rate, or of its share of calls, where a test says that it is surely one.

A version is compared with the version of which calls came before it; a whole of days against as many days before. Over
all tests of one table Holm's procedure keeps the chance of any false mark at 5 %.

`tool_table` makes the table of tools in production as an address asks for it, with the changes marked in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import pairwise
from typing import Final, Literal, get_args
from uuid import UUID, uuid5

from django.utils import timezone

from toolevals.grading.metrics.clustered import ExampleSums, rates_differ
from toolevals.grading.metrics.comparison import holm
from toolevals.json_types import JsonMapping
from toolevals.traces.production.tool_figures import SPLITS, ToolFigures, counts_of, figures_of, tool_figures
from toolevals.traces.reading.filters import TraceFilter
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project

ALPHA: Final = 0.05
Measure = Literal["error rate", "share of calls"]
MEASURES: Final[tuple[Measure, ...]] = get_args(Measure)


@dataclass(frozen=True, slots=True)
class ToolChange:
    """A rate that surely changed: from `before` to `after`, 0..1; `against` says in words what it is compared with.

    `change_id` follows from the table, its row, the measure and what it is compared with: the same in every export.
    `p_value` is adjusted for all tests of the table.
    """

    change_id: UUID
    tool: str
    part: str
    measure: Measure
    against: str
    before: float
    after: float
    p_value: float
    # The version that it is compared with; empty for days.
    before_part: str = ""


@dataclass(frozen=True, slots=True)
class _Against:
    """Says what a row is compared with: in words, and by the version that it is; empty for days."""

    words: str
    part: str = ""


# (row, what it is compared with, measure, sums of both)
_Test = tuple[tuple[str, str], _Against, Measure, ExampleSums, ExampleSums]


def tool_changes(
    project: Project,
    trace_filter: TraceFilter,
    split: str,
    figures: Sequence[ToolFigures],
    earlier: Sequence[ToolFigures] = (),
) -> dict[tuple[str, str], list[ToolChange]]:
    """Return the changes of the rows of a table by (tool, part): of one split by version, or by nothing.

    `earlier` are the figures of the `days_before`. Shares are compared only where the filter names no tool.
    """
    tests = [*_tests(trace_filter, split, figures, earlier)]
    adjusted = holm([rates_differ(before, after) for *_, before, after in tests])
    changes: dict[tuple[str, str], list[ToolChange]] = {}
    for (key, against, measure, before, after), p_value in zip(tests, adjusted, strict=True):
        if p_value is not None and p_value < ALPHA:
            change_id = uuid5(project.pk, f"{trace_filter.query} {split} {key!r} {measure} {against.words}")
            rates = _share(before), _share(after)
            change = ToolChange(change_id, *key, measure, against.words, *rates, p_value, against.part)
            changes.setdefault(key, []).append(change)
    return changes


def _tests(
    trace_filter: TraceFilter, split: str, figures: Sequence[ToolFigures], earlier: Sequence[ToolFigures]
) -> Iterator[_Test]:
    with_share = not trace_filter.tool
    if split == "version":
        # Versions in the order in which their first calls came.
        began: dict[str, date] = {}
        for each in figures:
            began[each.part] = min(*each.days, began.get(each.part, date.max))
        versions = sorted(began, key=lambda part: (began[part], part))
        by_row = {(each.tool, each.part): each for each in figures}
        for before, after in pairwise(versions):
            for (tool, part), row in by_row.items():
                row_before = by_row.get((tool, before))
                if part == after and row_before is not None:
                    yield from _of_pair(
                        row_before, row, _Against(f"version {before or '–'}", before), with_share=with_share
                    )
    elif not split and (days := days_before(trace_filter)):
        by_tool = {each.tool: each for each in earlier}
        against = _Against(f"{days.since[:10]} to {days.until[:10]}")
        for each in figures:
            if found := by_tool.get(each.tool):
                yield from _of_pair(found, each, against, with_share=with_share)


def _of_pair(before: ToolFigures, after: ToolFigures, against: _Against, *, with_share: bool) -> Iterator[_Test]:
    key = (after.tool, after.part)
    yield key, against, "error rate", before.by_trace.errors, after.by_trace.errors
    if with_share:
        yield key, against, "share of calls", before.share, after.share


def days_before(trace_filter: TraceFilter) -> TraceFilter | None:
    """Return the filter of as many days before the days that are asked for; None where these are no whole days."""
    try:
        first = date.fromisoformat(trace_filter.since)
        last = date.fromisoformat(trace_filter.until) if trace_filter.until else timezone.localdate(database_now())
    except ValueError:
        return None
    count = (last - first).days + 1
    if count < 1:
        return None
    return replace(trace_filter, since=str(first - timedelta(days=count)), until=str(first - timedelta(days=1)))


def _share(sums: ExampleSums) -> float:
    return sums.passed / sums.trials


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


def tool_filter(parameters: JsonMapping) -> tuple[TraceFilter, str]:
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
