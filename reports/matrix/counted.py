"""The matrix that an address asks for: the one way to it for page, pane, file and interface."""

from __future__ import annotations

from reports.analyses.matrix import Matrix, matrix_of
from reports.filters.placing import matrix_counts
from reports.matrix.state import MatrixState, Measure
from reports.queries.costing import matrix_costs
from toolevals.runs.models import Grading


def counted_matrix(grading: Grading, state: MatrixState) -> Matrix:
    """Return the whole matrix of a state; costs are added up only where they are asked for."""
    costs = matrix_costs(grading, state.filters) if state.measure is Measure.COST else None
    return matrix_of(matrix_counts(grading, state.filters), state.order, costs)
