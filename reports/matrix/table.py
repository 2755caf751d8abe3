"""The matrix as it is drawn: rows of cells for the table, and the same cells for the heat map."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from reports.analyses.matrix import Cell, Matrix
from reports.analyses.rates import Rate
from reports.filters.asked import address_query
from reports.matrix.margins import margin_documents, margin_words, matrix_margins
from reports.matrix.state import MatrixState, Measure
from toolevals.grading.metrics.classes import SPECIAL
from toolevals.grading.verdicts import NONE
from toolevals.presentation.figures import heat_map
from toolevals.presentation.heat import STEPS, heat_step
from toolevals.presentation.numbers import amount, percent, whole_percent

# With more classes than this a table of links is slow and nobody reads it: the heat map and the list remain.
MOST_IN_TABLE = 60
MOST_IN_LIST = 200
Key = tuple[str, str]
# A part and its whole.
Share = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TableCell:
    """One cell; without `query` it is empty. `gap`: the first column after the tools."""

    column: int
    step: str = "z"
    text: str = ""
    name: str = ""
    query: str = ""
    selected: bool = False
    gap: bool = False


@dataclass(frozen=True, slots=True)
class TableRow:
    """One expected class; `name` is what its row is called."""

    name: str
    cells: tuple[TableCell, ...]
    recall: Rate
    selected: bool
    ends_group: bool


@dataclass(frozen=True, slots=True)
class ListedCell:
    """One confusion in the list that stands for a table too large to read."""

    cell: Cell
    row: int
    column: int
    step: str
    query: str
    selected: bool


@dataclass(frozen=True, slots=True)
class DrawnMatrix:
    """What the page draws of a matrix, table and heat map from the same cells."""

    matrix: Matrix
    hidden_classes: int
    state: MatrixState

    @property
    def fits_table(self) -> bool:
        return len(self.matrix.columns) <= MOST_IN_TABLE

    @property
    def busiest(self) -> tuple[Cell, ...]:
        return self.matrix.confusions[:MOST_IN_LIST]

    @property
    def columns(self) -> list[TableCell]:
        """The heads, with what part of each column is right."""
        first = self._first_special
        return [
            TableCell(place, name=name, gap=name == first, selected=name == self.state.actual)
            for place, name in enumerate(self.matrix.columns)
        ]

    @property
    def precisions(self) -> list[tuple[bool, str, str, Rate]]:
        """The foot: whether a gap stands before, the precision in whole percent and in words, and the rate."""
        rates = [(name, self.matrix.precision(name)) for name in self.matrix.columns]
        first = self._first_special
        return [
            (name == first, whole_percent(rate.value), margin_words("precision", rate), rate) for name, rate in rates
        ]

    def rows(self) -> Iterator[TableRow]:
        """Yield the table's rows, empty cells included."""
        prefix = self.state.query(expected="", actual="", after="")
        places = {name: place for place, name in enumerate(self.matrix.columns)}
        first = self._first_special
        by_row: dict[str, dict[int, Cell]] = {name: {} for name in self.matrix.rows}
        for cell in self._cells():
            by_row[cell.expected][places[cell.actual]] = cell
        tools = [name for name in self.matrix.rows if name not in SPECIAL]
        for row in self.matrix.rows:
            cells = tuple(
                self._table_cell(by_row[row][place], place, prefix, gap=name == first)
                if place in by_row[row]
                else TableCell(place, gap=name == first)
                for place, name in enumerate(self.matrix.columns)
            )
            ends_group = bool(tools) and row == tools[-1] and row != self.matrix.rows[-1]
            yield TableRow(row, cells, self.matrix.recall(row), row == self.state.expected, ends_group)

    def listed(self) -> Iterator[ListedCell]:
        """Yield the largest confusions."""
        prefix = self.state.query(expected="", actual="", after="")
        rows = {name: place for place, name in enumerate(self.matrix.rows)}
        columns = {name: place for place, name in enumerate(self.matrix.columns)}
        for cell in self.busiest:
            row, column = rows[cell.expected], columns[cell.actual]
            yield ListedCell(cell, row, column, self._step(cell), _query(prefix, cell), self._is_selected(cell))

    def document(self) -> dict[str, Any]:
        """Return what the page's script needs: chart, names behind places, cells as columns, confusions by size.

        `confusions` are places in `cells`. Of a large matrix most cells are alike: each text is made once.
        """
        matrix = self.matrix
        rows = {name: place for place, name in enumerate(matrix.rows)}
        columns = {name: place for place, name in enumerate(matrix.columns)}
        hidden = self.state.hide_diagonal
        keys = [key for key in matrix.cells.keys if not (hidden and key[0] == key[1])]
        counts = [matrix.counts[key] for key in keys]
        in_row = [(count, matrix.row_totals[key[0]]) for key, count in zip(keys, counts, strict=True)]
        in_column = [(count, matrix.column_totals[key[1]]) for key, count in zip(keys, counts, strict=True)]
        by_column = self.state.measure is Measure.COLUMN
        shown = zip(keys, in_column if by_column else in_row, strict=True)
        found = {
            "chart": heat_map(matrix.rows, matrix.columns, (), margins=matrix_margins(matrix)),
            "margins": margin_documents(matrix),
            "rows": list(matrix.rows),
            "columns": list(matrix.columns),
            "none": NONE,
            "cells": [(rows[expected], columns[actual]) for expected, actual in keys],
            "counts": counts,
            "row_totals": [matrix.row_totals[name] for name in matrix.rows],
            "heat": [_step_number(*share, key[0] == key[1]) for key, share in shown],
            "text": self._texts(keys, in_row, in_column),
            "row_percent": [_percent(*share) for share in in_row],
            "column_percent": [_percent(*share) for share in in_column],
            "costs": [cost_line(matrix.cell(*key)) for key in keys] if matrix.costs else [],
            "steps": list(STEPS),
        }
        places = {key: place for place, key in enumerate(keys)}
        return found | {"confusions": [places[key] for key in matrix.confusions.keys]}

    def _texts(self, keys: list[Key], in_row: list[Share], in_column: list[Share]) -> list[str]:
        """Return what stands in the cells."""
        if self.state.measure is Measure.COST:
            return [amount(self.matrix.cell(*key).spent) for key in keys]
        if self.state.measure is Measure.COUNT:
            return [str(count) for count, _ in in_row]
        return [_whole_percent(*share) for share in (in_row if self.state.measure is Measure.ROW else in_column)]

    @property
    def _first_special(self) -> str:
        return next((name for name in self.matrix.columns if name in SPECIAL), "")

    def _cells(self) -> Iterator[Cell]:
        return (cell for cell in self.matrix.cells if not (cell.right and self.state.hide_diagonal))

    def _table_cell(self, cell: Cell, place: int, prefix: str, *, gap: bool) -> TableCell:
        return TableCell(
            place, self._step(cell), self._text(cell), cell.actual, _query(prefix, cell), self._is_selected(cell), gap
        )

    def _is_selected(self, cell: Cell) -> bool:
        return cell.expected == self.state.expected and cell.actual == self.state.actual

    def _step(self, cell: Cell) -> str:
        by_column = self.state.measure is Measure.COLUMN
        return heat_step(cell.column_share if by_column else cell.row_share, right=cell.right)

    def _text(self, cell: Cell) -> str:
        if self.state.measure is Measure.COUNT:
            return str(cell.count)
        if self.state.measure is Measure.COST:
            return amount(cell.spent)
        return whole_percent(cell.row_share if self.state.measure is Measure.ROW else cell.column_share)


def drawn(matrix: Matrix, state: MatrixState) -> DrawnMatrix:
    """Return what is drawn: of very many classes only those that a confusion touches, unless all are asked for.

    Whoever looks for classes by name is shown these, whatever touches them.
    """
    if state.find:
        found = matrix.found(state.find)
        return DrawnMatrix(found, len(matrix.columns) - len(found.columns), state)
    if len(matrix.columns) <= MOST_IN_TABLE or state.all_classes:
        return DrawnMatrix(matrix, 0, state)
    confused = matrix.confused_only()
    return DrawnMatrix(confused, len(matrix.columns) - len(confused.columns), state)


def _query(prefix: str, cell: Cell) -> str:
    own = address_query({"expected": cell.expected, "actual": cell.actual})
    return f"{prefix}&{own}" if prefix else own


def cost_line(cell: Cell) -> str:
    """Return what a cell costs, for those who point at it; empty where nobody says."""
    return "" if cell.cost is None else f"cost {amount(cell.spent)}, of {cell.costed:,} that say so"


@lru_cache(maxsize=20_000)
def _percent(part: int, whole: int) -> str:
    return percent(part / whole)


@lru_cache(maxsize=20_000)
def _whole_percent(part: int, whole: int) -> str:
    return whole_percent(part / whole)


@lru_cache(maxsize=20_000)
def _step_number(part: int, whole: int, right: bool) -> int:
    """Return the place of a cell's step in STEPS, from 1."""
    return STEPS.index(heat_step(part / whole, right=right)) + 1
