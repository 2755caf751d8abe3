"""Draw coverage for a page and as CSV: the same counts for heat map, table, list and file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from labeling.coverage.counting import Counts
from labeling.coverage.table import QUOTA_COLUMNS, SPREAD_COLUMNS, Column, Count, Gap, Share, ToolRow, gaps, shares
from labeling.coverage.table import tool_rows as rows_of
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.presentation import table as tables
from toolevals.presentation.csv import Cell as CsvCell
from toolevals.presentation.figures import HeatCell, heat_map
from toolevals.workspace.requests import page_number

# So many tools are drawn at once, and so many gaps listed; the files hold all.
TOOLS_A_PAGE = 30
GAPS_SHOWN = 20
VIEWS: Mapping[str, Sequence[Column]] = {"quotas": QUOTA_COLUMNS, "spread": SPREAD_COLUMNS}
TABLE_CSV = ("tool", "group", "covers", "have", "wanted", "lacking")
GAPS = tables.Table(
    "CoverageGap",
    "Something to add.",
    (
        tables.Column("lacking", int),
        tables.Column("tool"),
        tables.Column("what"),
        tables.Column("have", int),
        tables.Column("wanted", int),
        tables.Column("waiting", int),
    ),
)


@dataclass(frozen=True, slots=True)
class State:
    """The address's choice of columns, of a part of tools' names, and of a page of tools (from 1)."""

    view: str = "quotas"
    find: str = ""
    page: int = 1

    @classmethod
    def of_address(cls, query: Mapping[str, str]) -> State:
        """Return what an address says; what makes no sense counts as not said."""
        view, page = query.get("view", ""), query.get("page", "")
        return cls(view if view in VIEWS else "quotas", query.get("find", "").strip()[:100], page_number(page))


@dataclass(frozen=True, slots=True)
class Table:
    """The drawn table: columns with their group's head, some rows, and the number of all rows."""

    columns: Sequence[Column]
    groups: Sequence[tuple[str, int]]
    rows: Sequence[ToolRow]
    found: int
    pages: int
    filled: int
    wanted: int

    @property
    def heads(self) -> list[tuple[bool, Column]]:
        """The columns, each with whether a gap stands before it."""
        return list(zip(self._gaps, self.columns, strict=True))

    @property
    def drawn(self) -> list[JsonObject]:
        """The rows: `row`, and its cells as `shown`, each with whether a gap stands before it."""
        return [{"row": row, "shown": list(zip(self._gaps, row.cells, strict=True))} for row in self.rows]

    @property
    def _gaps(self) -> list[bool]:
        before = [None, *(each.group for each in self.columns)]
        return [last not in (None, each.group) for last, each in zip(before, self.columns, strict=False)]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A page of coverage."""

    table: Table
    shares: Sequence[Share]
    gaps: Sequence[Gap]
    lacking: int


def drawn(counts: Counts, quotas: JsonMapping, admitted: Mapping[str, frozenset[str]], state: State) -> Drawn:
    """Return what a page shows of the counts."""
    rows = rows_of(counts, quotas, admitted)
    spread = shares(counts, quotas)
    missing = gaps(counts, rows, spread)
    shown = rows if state.view == "quotas" else rows_of(counts, quotas, admitted, SPREAD_COLUMNS)
    return Drawn(_table(shown, rows, state), spread, missing, sum(gap.lacking for gap in missing))


def chart_document(table: Table, addresses: Sequence[Sequence[str]]) -> JsonObject:
    """Return what the page's script draws: the chart, its cells, and the address behind each cell."""
    rows = [row.tool for row in table.rows]
    cells = [
        HeatCell(down, right, count.step, _number(count), hover(row.tool, column, count))
        for down, row in enumerate(table.rows)
        for right, (column, count) in enumerate(zip(table.columns, row.cells, strict=True))
    ]
    chart = heat_map(rows, [column.title for column in table.columns], cells, corner=("of what", "tool"))
    places = [[cell.row, cell.column] for cell in cells]
    return {"rows": rows, "columns": [c.covers for c in table.columns], "cells": places, "chart": chart} | {
        "addresses": [list(address) for address in addresses]
    }


def hover(tool: str, column: Column, count: Count) -> list[str]:
    """Return what a cell says about itself, line by line."""
    estimated = [f"{count.estimated} of them by an estimate"] if count.estimated else []
    if count.wanted is None:
        return [tool, f"{column.title}: {count.have}", *estimated, "none is wanted"]
    end = f"{count.lacking} lacking" if count.lacking else "enough"
    return [tool, f"{column.title}: {count.have} of {count.wanted}", *estimated, end]


def table_lines(
    counts: Counts, quotas: JsonMapping, admitted: Mapping[str, frozenset[str]], view: str
) -> Iterator[Sequence[CsvCell]]:
    """Yield the cells of every tool as rows of TABLE_CSV."""
    columns = VIEWS[view]
    for row in rows_of(counts, quotas, admitted, columns):
        for column, count in zip(columns, row.cells, strict=True):
            yield row.tool, column.group, column.covers, count.have, count.wanted, count.lacking


def _table(shown: Sequence[ToolRow], rows: Sequence[ToolRow], state: State) -> Table:
    wanted = [count for row in rows for count in row.cells if count.wanted]
    matching = [row for row in shown if state.find.lower() in row.tool.lower()]
    pages = max(1, -(-len(matching) // TOOLS_A_PAGE))
    start = (min(state.page, pages) - 1) * TOOLS_A_PAGE
    columns = VIEWS[state.view]
    return Table(
        columns=columns,
        groups=[(group, len(list(members))) for group, members in groupby(columns, key=lambda each: each.group)],
        rows=matching[start : start + TOOLS_A_PAGE],
        found=len(matching),
        pages=pages,
        filled=sum(not count.lacking for count in wanted),
        wanted=len(wanted),
    )


def _number(count: Count) -> str:
    return str(count.have) if count.have or count.wanted else ""
