"""Read the matrix that an address asks for: the only way to it for page, pane, file and interface."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from reports.analyses.cell import Part
from reports.analyses.costs import Basis
from reports.analyses.matrix import Matrix, matrix_of
from reports.filters.case_filters import STATUSES, Filters, Split
from reports.filters.dividing import block_of, expected_part_of, part_of
from reports.filters.gold_values import gold_values
from reports.filters.matrix_cells import matrix_counts, matrix_sums
from reports.matrix.state import MatrixState, Measure
from reports.queries.costing import basis_of, matrix_costs
from reports.queries.summing import is_counted
from toolevals.runs.models import Grading

# So many matrices, and as many documents of them, stay in the memory of a process: the largest take a few megabytes.
MOST_HELD: Final = 8


def counted_matrix(grading: Grading, state: MatrixState) -> Matrix:
    """Return the whole matrix of a state; costs are added up only where they are asked for.

    The last few that can't change any more are held by the process: a cell is opened on a matrix that was just shown.
    """
    bare = state.without_cell
    return _held(grading, bare) if stays(grading, state) else _counted(grading, bare)


def stays(grading: Grading, state: MatrixState) -> bool:
    """Return whether a finished grading's matrix stays as it is: people may change tags, strata and what tools say."""
    by_tools = state.measure is Measure.COST and basis_of(grading, state.filters.view) is Basis.RELATIVE
    return is_counted(state.filters) and not by_tools and state.filters.split is not Split.EFFECT


def _counted(grading: Grading, state: MatrixState) -> Matrix:
    costs = matrix_costs(grading, state.filters) if state.measure is Measure.COST else None
    counts, split = matrix_counts(grading, state.filters), state.filters.split
    sums = matrix_sums(grading, state.filters)
    if split is Split.NOTHING:
        return matrix_of(counts, state.order, costs, sums=sums)
    names = {name for cell in counts for name in cell}
    parts = {actual: _part(actual) for _, actual in counts} if split is Split.ARGUMENTS else {}
    called = {name: part for name, part in parts.items() if part}
    blocks = {name: block_of(name, split) for name in names} if split is Split.EFFECT else {}
    expected = _value_parts(grading, state.filters, counts) if split is Split.VALUE else {}
    return matrix_of(counts, state.order, costs, parts=called, blocks=blocks, row_parts=expected, sums=sums)


_held = lru_cache(maxsize=MOST_HELD)(_counted)


def _value_parts(grading: Grading, filters: Filters, counts: Iterable[tuple[str, str]]) -> dict[str, Part]:
    """Return the part that each expected class is, in the order of the values."""
    places = {value: place for place, value in enumerate(gold_values(grading, filters.split_argument).parts)}
    parts = {expected: expected_part_of(expected, filters.split) for expected, _ in counts}
    return {name: Part(whole, value, places[value]) for name, (whole, value) in parts.items() if value}


def _part(actual: str) -> Part | None:
    whole, status = part_of(actual, Split.ARGUMENTS)
    return Part(whole, status, STATUSES.index(status)) if status else None
