"""Draw the matrix: rows of cells for the table, the same cells for the heat map, and its margins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TypeVar

import orjson

from reports.filters.case_filters import address_query
from reports.matrix.analysis import Cell, Cost, Matrix, Order
from reports.matrix.queries import MOST_HELD, counted_matrix, stays
from reports.matrix.state import MatrixState, Measure
from reports.rates import FEW_WORDS, Rate, few_of
from toolevals.grading.metrics.confusion import SPECIAL, namespace_of, namespaces
from toolevals.grading.values.verdicts import NONE
from toolevals.json_types import JsonObject
from toolevals.presentation.figures import MarginRate, heat_map
from toolevals.presentation.numbers import amount, count, percent, span, whole_percent
from toolevals.presentation.palettes import STEPS, count_bounds, count_step, heat_step
from toolevals.runs.models import Grading

Margins = tuple[list[MarginRate], list[MarginRate]]


def matrix_margins(matrix: Matrix) -> Margins:
    """Return the rates of the rows and of the columns; they are of the whole matrix, whatever of it is drawn."""
    rows = [_rate(name, "recall", matrix.recall(name), "expected") for name in matrix.rows]
    columns = [_rate(name, "precision", matrix.precision(name), "called") for name in matrix.columns]
    return rows, columns


def margin_documents(matrix: Matrix) -> dict[str, list[tuple[str, str, str]]]:
    """Return the margins for the page's script: of each class n, the rate and its interval, in whole percent.

    A rate of too few examples is marked.
    """
    return {
        "rows": [_document(matrix.recall(name)) for name in matrix.rows],
        "columns": [_document(matrix.precision(name)) for name in matrix.columns],
    }


def margin_words(kind: str, rate: Rate) -> str:
    """Return a rate in words: "recall 94.1 % (73.0 to 99.0), 16 of 17"."""
    counted = f"{count(rate.passed)} of {count(rate.total)}"
    if rate.value is None:
        return f"{kind} –, {counted}"
    few = f"; {FEW_WORDS[0].lower()}{FEW_WORDS[1:]}" if few_of(rate) else ""
    return f"{kind} {percent(rate.value)} % ({span(rate.low, rate.high)}), {counted}{few}"


def _rate(name: str, kind: str, rate: Rate, verb: str) -> MarginRate:
    hover = (name, f"{verb} {count(rate.total)} times", margin_words(kind, rate))
    total, text, _ = _document(rate)
    return MarginRate(rate.value, rate.low, rate.high, hover, text, total)


def _document(rate: Rate) -> tuple[str, str, str]:
    interval = f"{whole_percent(rate.low)}–{whole_percent(rate.high)}" if rate.total else ""
    return count(rate.total), f"{whole_percent(rate.value)}{few_of(rate)}", interval


# With more classes than this a table of links is slow and no one reads it: the heat map and the list remain.
MOST_IN_TABLE = 60
MOST_IN_LIST = 200
Key = tuple[str, str]
# A part and its whole.
Share = tuple[int, int]
Written = TypeVar("Written")


@dataclass(frozen=True, slots=True)
class TableCell:
    """One cell; without `query` it is empty. `gap`: the first column of another block than before."""

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
    ends_block: bool


@dataclass(frozen=True, slots=True)
class ListedCell:
    """One confusion in the list that stands for a table too large to read."""

    cell: Cell
    row: int
    column: int
    step: str
    query: str
    selected: bool


# Not slotted: the namespaces are found once.
@dataclass(frozen=True)
class DrawnMatrix:
    """The parts of a matrix that the page draws, table and heat map from the same cells."""

    matrix: Matrix
    hidden_classes: int
    state: MatrixState

    @property
    def fits_table(self) -> bool:
        return max(len(self.matrix.columns), len(self.matrix.rows)) <= MOST_IN_TABLE

    @property
    def busiest(self) -> tuple[Cell, ...]:
        return self.matrix.confusions[:MOST_IN_LIST]

    @property
    def columns(self) -> list[TableCell]:
        """The heads, with what part of each column is right."""
        begins = self._begins(self.matrix.columns)
        return [
            TableCell(place, name=name, gap=name in begins, selected=name == self.state.actual)
            for place, name in enumerate(self.matrix.columns)
        ]

    @property
    def precisions(self) -> list[tuple[bool, str, str, Rate]]:
        """The foot: whether a gap stands before, the precision in whole percent and in words, and the rate."""
        rates = [(name, self.matrix.precision(name)) for name in self.matrix.columns]
        begins = self._begins(self.matrix.columns)
        return [
            (name in begins, whole_percent(rate.value), margin_words("precision", rate), rate) for name, rate in rates
        ]

    def rows(self) -> Iterator[TableRow]:
        """Yield the table's rows, empty cells included."""
        prefix = self.state.query(expected="", actual="", after="")
        places = {name: place for place, name in enumerate(self.matrix.columns)}
        begins = self._begins(self.matrix.columns)
        by_row: dict[str, dict[int, Cell]] = {name: {} for name in self.matrix.rows}
        for cell in self._cells():
            by_row[cell.expected][places[cell.actual]] = cell
        following = dict(pairwise(self.matrix.rows))
        below = self._begins(self.matrix.rows)
        for row in self.matrix.rows:
            cells = tuple(
                self._table_cell(by_row[row][place], place, prefix, gap=name in begins)
                if place in by_row[row]
                else TableCell(place, gap=name in begins)
                for place, name in enumerate(self.matrix.columns)
            )
            ends_block = following.get(row) in below
            yield TableRow(row, cells, self.matrix.recall(row), row == self.state.expected, ends_block)

    def listed(self) -> Iterator[ListedCell]:
        """Yield the largest confusions."""
        prefix = self.state.query(expected="", actual="", after="")
        rows = {name: place for place, name in enumerate(self.matrix.rows)}
        columns = {name: place for place, name in enumerate(self.matrix.columns)}
        for cell in self.busiest:
            row, column = rows[cell.expected], columns[cell.actual]
            yield ListedCell(cell, row, column, self._step(cell), _query(prefix, cell), self._is_selected(cell))

    def document(self) -> JsonObject:
        """Return what the page's script needs: chart, names behind places, cells as columns, confusions by size.

        `confusions` are places in `cells`. Of a large matrix most cells are alike: each text is made once.
        """
        matrix = self.matrix
        rows = {name: place for place, name in enumerate(matrix.rows)}
        columns = {name: place for place, name in enumerate(matrix.columns)}
        hidden = self.state.hide_diagonal
        keys = [key for key in matrix.cells.keys if key not in matrix.right_cells] if hidden else matrix.cells.keys
        places = {key: place for place, key in enumerate(keys)}
        counts = [matrix.counts[key] for key in keys]
        in_row = [(count, matrix.row_totals[key[0]]) for key, count in zip(keys, counts, strict=True)]
        in_column = [(count, matrix.column_totals[key[1]]) for key, count in zip(keys, counts, strict=True)]
        spent = [matrix.costs.get(key) for key in keys] if self.state.measure is Measure.COST else []
        return {
            "chart": heat_map(matrix.rows, matrix.columns, (), margins=matrix_margins(matrix)),
            "margins": margin_documents(matrix),
            "rows": list(matrix.rows),
            "columns": list(matrix.columns),
            "none": NONE,
            "cells": [(rows[expected], columns[actual]) for expected, actual in keys],
            "counts": counts,
            "row_totals": [matrix.row_totals[name] for name in matrix.rows],
            "heat": self._heat(places, in_column if self.state.measure is Measure.COLUMN else in_row),
            "text": self._texts(counts, in_row, in_column, spent),
            "row_percent": _each(in_row, percent),
            "column_percent": _each(in_column, percent),
            "costs": [cost_line(cost) for cost in spent] if matrix.costs else [],
            "steps": list(STEPS),
            "gaps": {"rows": self._gaps(matrix.rows), "columns": self._gaps(matrix.columns)},
            "confusions": [places[key] for key in matrix.confusions.keys],
        }

    def _begins(self, names: Sequence[str]) -> set[str]:
        """Return the names before which another block begins.

        A block holds tools of one effect where these divide, else in order of name those of one namespace, or what is
        no tool.
        """
        blocks = {name: "" if name in SPECIAL else self._block_of(name) for name in names}
        return {name for before, name in pairwise(names) if blocks[before] != blocks[name]}

    def _block_of(self, name: str) -> str:
        if self.matrix.blocks or self.state.order is not Order.NAME:
            return f"block {self.matrix.blocks.get(name, 0)}"
        namespace = namespace_of(name)
        return f"tools of {namespace if namespace in self._namespaces else ''}"

    @cached_property
    def bounds(self) -> tuple[int, ...]:
        """Return the counts at which a wrong cell is a step darker, where cells show counts."""
        return count_bounds(max((cell.count for cell in self.matrix.confusions[:1]), default=0))

    @property
    def legend(self) -> tuple[tuple[str, int], ...]:
        """Return each step of a wrong cell with the least count that has it."""
        return tuple((count_step(least, self.bounds), least) for least in (1, *self.bounds))

    @cached_property
    def _namespaces(self) -> Mapping[str, int]:
        return namespaces({*self.matrix.rows, *self.matrix.columns})

    def _gaps(self, names: Sequence[str]) -> list[int]:
        """Return the places before which another block begins."""
        begins = self._begins(names)
        return [place for place, name in enumerate(names) if name in begins]

    def _heat(self, places: Mapping[Key, int], shares: Sequence[Share]) -> list[int]:
        """Return the step of each cell as its place in STEPS, from 1."""
        if self.state.measure is Measure.COUNT:
            by_count = {part: _place(count_step(part, self.bounds)) for part in {part for part, _ in shares}}
            rows = [by_count[part] for part, _ in shares]
        else:
            steps = {share: _place(heat_step(*share, right=False)) for share in set(shares)}
            rows = [steps[share] for share in shares]
        for key in self.matrix.right_cells:
            if (place := places.get(key)) is not None:
                rows[place] = _place(heat_step(*shares[place], right=True))
        return rows

    def _texts(
        self, counts: list[int], in_row: list[Share], in_column: list[Share], spent: list[Cost | None]
    ) -> list[str]:
        """Return what stands in the cells."""
        if self.state.measure is Measure.COST:
            return [cost_amount(cost) for cost in spent]
        if self.state.measure is Measure.COUNT:
            return [str(count) for count in counts]
        return _each(in_row if self.state.measure is Measure.ROW else in_column, whole_percent)

    def _cells(self) -> Iterator[Cell]:
        return (cell for cell in self.matrix.cells if not (cell.right and self.state.hide_diagonal))

    def _table_cell(self, cell: Cell, place: int, prefix: str, *, gap: bool) -> TableCell:
        return TableCell(
            place, self._step(cell), self._text(cell), cell.actual, _query(prefix, cell), self._is_selected(cell), gap
        )

    def _is_selected(self, cell: Cell) -> bool:
        return cell.expected == self.state.expected and cell.actual == self.state.actual

    def _step(self, cell: Cell) -> str:
        if self.state.measure is Measure.COUNT and not cell.right:
            return count_step(cell.count, self.bounds)
        whole = cell.column_total if self.state.measure is Measure.COLUMN else cell.row_total
        return heat_step(cell.count, whole, right=cell.right)

    def _text(self, cell: Cell) -> str:
        if self.state.measure is Measure.COUNT:
            return str(cell.count)
        if self.state.measure is Measure.COST:
            return amount(cell.spent)
        return whole_percent(cell.row_share if self.state.measure is Measure.ROW else cell.column_share)


def drawn_document(grading: Grading, state: MatrixState) -> JsonObject:
    """Return the document of the drawn matrix; one that can't change is written as JSON once, and held."""
    bare = state.without_cell
    return (
        dict(_written(grading, bare))
        if stays(grading, state)
        else drawn(counted_matrix(grading, bare), bare).document()
    )


@lru_cache(maxsize=MOST_HELD)
def _written(grading: Grading, state: MatrixState) -> dict[str, orjson.Fragment]:
    document = drawn(counted_matrix(grading, state), state).document()
    return {name: orjson.Fragment(orjson.dumps(part)) for name, part in document.items()}


def drawn(matrix: Matrix, state: MatrixState) -> DrawnMatrix:
    """Return what is drawn: of very many classes only those that a confusion touches, unless all are asked for.

    A person who looks for classes by name is shown these, whatever touches them.
    """
    if state.find:
        hits = matrix.found(state.find)
        return DrawnMatrix(hits, len(matrix.columns) - len(hits.columns), state)
    if len(matrix.columns) <= MOST_IN_TABLE or state.all_classes:
        return DrawnMatrix(matrix, 0, state)
    confused = matrix.confused_only()
    return DrawnMatrix(confused, len(matrix.columns) - len(confused.columns), state)


def _query(prefix: str, cell: Cell) -> str:
    own = address_query({"expected": cell.expected, "actual": cell.actual})
    return f"{prefix}&{own}" if prefix else own


def cost_amount(cost: Cost | None) -> str:
    """Return what cases cost together, as far as they say."""
    return amount(None if cost is None else float(cost.total))


def cost_line(cost: Cost | None) -> str:
    """Return what a cell costs, for those who point at it; empty where no one says."""
    return "" if cost is None else f"cost {cost_amount(cost)}, over {cost.known:,} cases with a known cost"


def _each(shares: Sequence[Share], write: Callable[[float], Written]) -> list[Written]:
    """Return what is written of each share; of a large matrix most are alike, and each is written once."""
    written = {share: write(share[0] / share[1]) for share in set(shares)}
    return [written[share] for share in shares]


def _place(step: str) -> int:
    return STEPS.index(step) + 1
