"""List the namespaces and effects of a matrix's tools, each to be merged or kept apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from reports.analyses.matrix import Matrix
from reports.filters.case_filters import Effect, Filters, Split
from reports.filters.dividing import EFFECT_CLASSES
from reports.filters.matrix_cells import matrix_counts
from reports.filters.offered import effects_by_name
from reports.matrix.state import MatrixState
from toolevals.grading.metrics.confusion import EVERY, SPECIAL, namespaces, tools_of_class
from toolevals.runs.models import Grading


@dataclass(frozen=True, slots=True)
class Group:
    """A namespace or an effect, with how many tools it has, and the state's query with it turned over."""

    name: str
    tools: int
    collapsed: bool
    query: str

    @property
    def words(self) -> str:
        """Return what its tools are called together."""
        return self.name if self.name in EFFECT_CLASSES.values() else f"{self.name}*"


@dataclass(frozen=True, slots=True)
class Groups:
    """Every namespace that two tools share, before them every effect where these divide.

    `all_query` and `none_query` take all of them together and apart.
    """

    groups: tuple[Group, ...]
    all_query: str
    none_query: str

    @property
    def collapsed(self) -> int:
        """Return how many are taken together."""
        return sum(group.collapsed for group in self.groups)


def matrix_groups(matrix: Matrix, grading: Grading, state: MatrixState) -> Groups | None:
    """Return what the matrix can be folded by; None where there is nothing."""
    collapse = state.filters.collapse
    names: Iterable[str] = matrix.columns
    if collapse or state.filters.split:
        fine = matrix_counts(grading, replace(state.filters, collapse=(), split=Split.NOTHING, split_argument=""))
        names = {name for cell in fine for name in cell}
    tools = {tool for name in names for tool in tools_of_class(name)}.difference(SPECIAL)
    found = (_effects(tools, grading) if state.filters.split is Split.EFFECT else {}) | namespaces(tools)
    if not found:
        return None
    chosen = set(found) if EVERY in collapse else set(collapse) & set(found)
    groups = tuple(
        Group(name, many, name in chosen, _query(state, chosen ^ {name}, found)) for name, many in found.items()
    )
    return Groups(groups, _query(state, set(found), found), _query(state, set(), found))


def _effects(tools: Iterable[str], grading: Grading) -> dict[str, int]:
    """Return the classes of the tools' effects, with how many tools each has."""
    of_tools = effects_by_name(grading)
    counts = Counter(of_tools.get(tool, Effect.UNSAID) for tool in tools)
    return {EFFECT_CLASSES[effect]: counts[effect] for effect in Effect if counts[effect]}


def _query(state: MatrixState, chosen: set[str], every: Iterable[str]) -> str:
    """Return the query with these namespaces together; the selected cell may be no more."""
    filters: Filters = replace(state.filters, collapse=(EVERY,) if chosen >= set(every) else tuple(sorted(chosen)))
    return state.query(filters=filters, expected="", actual="", after="")
