"""The namespaces of a matrix's tools, each to be taken together or apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from reports.analyses.matrix import Matrix
from reports.filters.asked import Filters
from reports.filters.placing import matrix_counts
from reports.matrix.state import MatrixState
from toolevals.grading.metrics.classes import EVERY, namespaces, tools_of_class
from toolevals.runs.models import Grading


@dataclass(frozen=True, slots=True)
class Group:
    """A namespace with how many tools it has, and the state's query with it turned over."""

    name: str
    tools: int
    collapsed: bool
    query: str


@dataclass(frozen=True, slots=True)
class Groups:
    """Every namespace that two tools share; `all_query` and `none_query` take all of them together and apart."""

    groups: tuple[Group, ...]
    all_query: str
    none_query: str

    @property
    def collapsed(self) -> int:
        """How many are taken together."""
        return sum(group.collapsed for group in self.groups)


def matrix_groups(matrix: Matrix, grading: Grading, state: MatrixState) -> Groups | None:
    """Return the namespaces that the matrix can be folded by; None where its tools have none."""
    collapse = state.filters.collapse
    names: Iterable[str] = matrix.columns
    if collapse:
        fine = matrix_counts(grading, replace(state.filters, collapse=()))
        names = {name for cell in fine for name in cell}
    found = namespaces({tool for name in names for tool in tools_of_class(name)})
    if not found:
        return None
    chosen = set(found) if EVERY in collapse else set(collapse) & set(found)
    groups = tuple(
        Group(name, tools, name in chosen, _query(state, chosen ^ {name}, found)) for name, tools in found.items()
    )
    return Groups(groups, _query(state, set(found), found), _query(state, set(), found))


def _query(state: MatrixState, chosen: set[str], every: Iterable[str]) -> str:
    """Return the query with these namespaces together; the selected cell may be no more."""
    filters: Filters = replace(state.filters, collapse=(EVERY,) if chosen >= set(every) else tuple(sorted(chosen)))
    return state.query(filters=filters, expected="", actual="", after="")
