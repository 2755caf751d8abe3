"""Show the confusion matrix in small, and its largest confusions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from reports.matrix.analysis import Cell, Matrix, Order
from reports.matrix.queries import MOST_HELD, counted_matrix, stays
from reports.matrix.state import MatrixState
from toolevals.grading.metrics.confusion import SPECIAL
from toolevals.presentation.numbers import short
from toolevals.presentation.palettes import heat_step
from toolevals.presentation.sparks import Squares, squares
from toolevals.runs.models import Grading

MOST_CONFUSIONS: Final = 3
# Of more classes the page draws those that are confused most, and says so.
MOST_CLASSES: Final = 40
# Up to so many classes names and counts are written.
MOST_NAMED: Final = 16
# Sizes in units of the picture.
CELL, GAP, NAMES, NAME_LENGTH = 18.0, 3.0, 116.0, 18


@dataclass(frozen=True, slots=True)
class SmallCell:
    """One cell of the small matrix: its left and top, where its count is written, its step of the heat ("z": none)."""

    left: float
    top: float
    text_x: str
    text_y: str
    step: str
    count: int


@dataclass(frozen=True, slots=True)
class SmallRow:
    """One row of the small matrix: its class, shortened, and its cells."""

    name: str
    text_y: str
    cells: tuple[SmallCell, ...]


@dataclass(frozen=True, slots=True)
class LargeConfusion:
    """One of the largest confusions, and the query of its cell on the matrix page."""

    cell: Cell
    query: str


@dataclass(frozen=True, slots=True)
class Confusions:
    """The small matrix, as attributes of an SVG, with the largest confusions; `left_out` classes are not drawn.

    `steps` are its cells, and `ringed` those of the largest confusions.
    """

    matrix: Matrix
    largest: tuple[LargeConfusion, ...]
    rows: tuple[SmallRow, ...]
    steps: tuple[Squares, ...]
    ringed: tuple[Squares, ...]
    width: str
    height: str
    names_end: str
    left_out: int

    @property
    def is_named(self) -> bool:
        """Return whether names and counts are written."""
        return len(self.rows) <= MOST_NAMED


def confusions_of(grading: Grading) -> Confusions:
    """Return the matrix of a grading in small. The last few that can't change any more are held by the process."""
    return _held(grading) if stays(grading, _WHOLE) else _drawn(grading)


def _drawn(grading: Grading) -> Confusions:
    matrix = counted_matrix(grading, _WHOLE)
    largest = matrix.confusions[:MOST_CONFUSIONS]
    drawn = most_confused(matrix)
    named = len(drawn.rows) <= MOST_NAMED
    start = NAMES if named else 0.0
    columns = dict(_places(drawn.columns, start))
    rows = {name: _row(drawn, name, top, columns) for name, top in _places(drawn.rows, 0.0)}
    cells = {
        (name, column): cell for name, row in rows.items() for column, cell in zip(columns, row.cells, strict=True)
    }
    ringed = [cells[cell.expected, cell.actual] for cell in largest]
    state = MatrixState()
    return Confusions(
        matrix,
        tuple(LargeConfusion(cell, state.cell_query(cell.expected, cell.actual)) for cell in largest),
        tuple(rows.values()),
        _squares(cells.values()),
        _squares(ringed),
        _length(max(columns.values(), default=0.0) + CELL + 1),
        _length(max((top for _, top in _places(drawn.rows, 0.0)), default=0.0) + CELL + 1),
        _length(start - 8),
        len(matrix.columns) - len(drawn.columns),
    )


_WHOLE: Final = MatrixState(order=Order.CLUSTER)
_held = lru_cache(maxsize=MOST_HELD)(_drawn)


def most_confused(matrix: Matrix) -> Matrix:
    """Return the matrix of at most MOST_CLASSES classes: those that are confused most."""
    if len(matrix.columns) <= MOST_CLASSES:
        return matrix
    names: dict[str, None] = {}
    for cell in matrix.confusions:
        names.update(dict.fromkeys((cell.expected, cell.actual)))
        if len(names) >= MOST_CLASSES:
            break
    return matrix.limited(list(names)[:MOST_CLASSES] or matrix.columns[:MOST_CLASSES])


def _places(names: tuple[str, ...], start: float) -> Iterator[tuple[str, float]]:
    """Yield where each class begins, a gap before the classes that are no tools."""
    at, in_gap = start, False
    for name in names:
        if name in SPECIAL and not in_gap:
            at, in_gap = at + GAP, True
        yield name, at
        at += CELL


def _squares(cells: Iterable[SmallCell]) -> tuple[Squares, ...]:
    return squares(((cell.step, cell.left, cell.top) for cell in cells), CELL - 1)


def _row(matrix: Matrix, name: str, top: float, columns: dict[str, float]) -> SmallRow:
    cells = []
    for column, left in columns.items():
        cell = matrix.cell(name, column)
        step = heat_step(cell.count, cell.row_total, right=cell.right) if cell.count else "z"
        text = _length(left + CELL / 2 + 0.5), _length(top + 13.4)
        cells.append(SmallCell(left + 1, top + 1, *text, step, cell.count))
    return SmallRow(short(name, NAME_LENGTH), _length(top + 13.8), tuple(cells))


def _length(value: float) -> str:
    return f"{value:g}"
