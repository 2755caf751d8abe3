"""Draw tools by tools for a page: the table, and the same cells for the heat map. Plain values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolevals.presentation.figures import HeatCell, heat_map
from toolevals.presentation.numbers import whole_percent
from toolevals.presentation.palettes import heat_step

# With more classes than this no one reads a table: those that differ most are drawn, the file holds all.
MOST_DRAWN = 40


@dataclass(frozen=True, slots=True)
class Cell:
    """In how many units a label chose `row` where another chose `column`; empty where in none."""

    row: str
    column: str
    count: int = 0
    of: int = 0

    @property
    def step(self) -> str:
        return heat_step(self.count, self.of, right=self.row == self.column) if self.count else "z"


@dataclass(frozen=True, slots=True)
class ToolMatrix:
    """Tool choices in order, and the cells of each row. Of a pair of people the rows are the one's, else both ways."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    hidden: int
    is_pair: bool

    @property
    def filled(self) -> list[tuple[int, int, Cell]]:
        """The cells that hold something, with their places."""
        placed = [(down, cells) for down, (_, cells) in enumerate(self.rows)]
        return [(down, right, cell) for down, cells in placed for right, cell in enumerate(cells) if cell.count]


def tool_matrix(counts: Mapping[tuple[str, str], int], *, is_pair: bool, most: int = MOST_DRAWN) -> ToolMatrix:
    """Return the matrix of `Agreement.cells`: what differs most often first, what is no tool last."""
    both = dict(counts) if is_pair else {**counts, **{(two, one): count for (one, two), count in counts.items()}}
    rows: Counter[str] = Counter()
    differ: Counter[str] = Counter()
    for (one, two), count in both.items():
        rows[one] += count
        if one != two:
            differ[one] += count
            differ[two] += count
    every = sorted({name for key in both for name in key}, key=lambda name: (name[:1] == "(", -differ[name], name))
    shown = sorted(every, key=lambda name: (-differ[name], -rows[name]))[:most]
    names = tuple(name for name in every if name in set(shown))
    return ToolMatrix(
        names,
        tuple((one, tuple(Cell(one, two, both.get((one, two), 0), rows[one]) for two in names)) for one in names),
        len(every) - len(names),
        is_pair,
    )


def chart_document(matrix: ToolMatrix, addresses: Sequence[str]) -> dict[str, Any]:
    """Return what the page's script draws: the chart, its cells, and the address behind each of `matrix.filled`."""
    held = [
        HeatCell(down, right, cell.step, str(cell.count), hover(cell, is_pair=matrix.is_pair))
        for down, right, cell in matrix.filled
    ]
    corner = ("the other said", "the one said") if matrix.is_pair else ("another said", "one said")
    # Every row and every column needs a cell.
    diagonal = {(cell.row, cell.column) for cell in held}
    blanks = [HeatCell(n, n, "", "", ()) for n in range(len(matrix.names)) if (n, n) not in diagonal]
    return {
        "rows": list(matrix.names),
        "columns": list(matrix.names),
        "cells": [[cell.row, cell.column] for cell in held],
        "chart": heat_map(matrix.names, matrix.names, [*held, *blanks], corner=corner),
        "addresses": list(addresses),
    }


def hover(cell: Cell, *, is_pair: bool) -> tuple[str, ...]:
    """Return what a cell says about itself, line by line."""
    if cell.row == cell.column:
        told = [f"both said {cell.row}"]
    else:
        told = [f"one said {cell.row}", f"{'the other' if is_pair else 'another'} {cell.column}"]
    return (*told, f"{cell.count:,} of {cell.of:,}, {whole_percent(cell.count / cell.of)} % of the row")
