"""Show the confusion matrix, the pane that reads one of its cells, and its tools' namespaces and effects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from reports.filters.case_filters import Effect, Filters, Split
from reports.filters.choices import chips, filter_choices, splits_offered
from reports.filters.dividing import EFFECT_CLASSES
from reports.filters.matrix_cells import matrix_counts
from reports.filters.sums import effects_by_name
from reports.matrix.analysis import Matrix, Order
from reports.matrix.cell import CellReading, read_cell
from reports.matrix.queries import basis_of, counted_matrix
from reports.matrix.state import MatrixState, Measure, read_matrix_state
from reports.matrix.table import drawn, drawn_document
from reports.rates import TOOL_GOAL
from reports.run.header import RunHead, graded, run_head, run_url
from toolevals.grading.metrics.confusion import EVERY, SPECIAL, namespaces, tools_of_class
from toolevals.presentation.numbers import track_start
from toolevals.runs.aggregates.cube import Unit, View
from toolevals.runs.models import Grading
from toolevals.traces.models import TraceExample
from toolevals.workspace.models import Project, Role
from toolevals.workspace.requests import ProjectRequest

# What a key does -> the keys.
KEYMAP = (
    ("Move over cells", ("←", "↑", "↓", "→")),
    ("Open the cell", ("↵",)),
    ("Next, previous largest confusion", ("N", "P")),
    ("Case down, up", ("J", "K")),
    ("Back to the matrix", ("Esc",)),
    ("Count, row %, column %, cost", ("1", "2", "3", "4")),
    ("Find a tool", ("/",)),
    ("More filters, groups of tools", ("F", "G")),
    ("Hide the diagonal", ("H",)),
    ("Heat map or table", ("T",)),
    ("CSV files", ("X",)),
    ("Copy link", ("C",)),
)


@require_safe
def matrix(request: ProjectRequest, number: int) -> HttpResponse:
    """Show the matrix with one cell read next to it."""
    head = run_head(request, number, "matrix")
    if head.grading is None:
        return render(request, "reports/run_waiting.html", {"head": head, "run": head.run, "job": head.run.job})
    state = read_matrix_state(request.GET)
    counted = counted_matrix(head.grading, state)
    cell_context = _cell_context(head, head.grading, counted, state, request.role)
    if (reading := cell_context["reading"]) is not None:
        state = replace(state, expected=reading.cell.expected, actual=reading.cell.actual)
    table = drawn(counted, state)
    context = {
        "matrix": counted,
        "drawn": table,
        "document": drawn_document(head.grading, state) | _addresses(head, state),
        "choices": filter_choices(head.grading, state.filters),
        "filters": state.filters,
        "chips": chips(state.filters, lambda filters: state.query(filters=filters, after="")),
        "views": list(View),
        "units": list(Unit) if head.run.trials > 1 else (),
        "basis": basis_of(head.grading, state.filters.view),
        "groups": matrix_groups(counted, head.grading, state),
        "splits": splits_offered(head.grading, state.filters),
        "orders": list(Order),
        "measures": list(Measure),
        "track_start": track_start([low for name in counted.rows if (low := counted.recall(name).low) is not None]),
        "tool_goal": TOOL_GOAL,
        "show_all": state.query(all_classes=True, find=""),
        "keymap": KEYMAP,
    }
    return render(request, "reports/matrix.html", cell_context | context)


@require_safe
def cell(request: ProjectRequest, number: int) -> HttpResponse:
    """Return the pane of one cell alone: what the matrix page swaps in."""
    head = run_head(request, number, "matrix")
    grading = graded(head)
    state = read_matrix_state(request.GET)
    counted = counted_matrix(grading, state)
    return render(request, "reports/parts/cell.html", _cell_context(head, grading, counted, state, request.role))


def _cell_context(head: RunHead, grading: Grading, counted: Matrix, state: MatrixState, role: Role) -> dict[str, Any]:
    reading = read_cell(grading, counted, state)
    if reading is not None:
        state = replace(state, expected=reading.cell.expected, actual=reading.cell.actual)
    return {
        "head": head,
        "run": head.run,
        "page_url": run_url("matrix", head.run),
        "matrix_file": f"run-{head.run.number}-matrix",
        "state": state,
        "reading": reading,
        "traces": _traces(head.run.project, reading, role),
        "query": state.query(),
        "query_matrix": state.query(expected="", actual="", after=""),
        "query_first": state.query(after=""),
        "query_more": state.query(after=reading.more_after) if reading and reading.more_after else "",
        "query_next": _query_of(state, reading.next if reading else None),
        "query_previous": _query_of(state, reading.previous if reading else None),
    }


def _traces(project: Project, reading: CellReading | None, role: Role) -> dict[UUID, UUID]:
    """Return the traces that the examples of the cell's cases were made of, those that are closed left out."""
    examples = {case.example_id for case in reading.cases} if reading else set()
    return TraceExample.objects.open_traces(project, examples, role) if examples else {}


def _query_of(state: MatrixState, found: Any) -> str:
    return state.cell_query(found.expected, found.actual) if found else ""


def _addresses(head: RunHead, state: MatrixState) -> dict[str, Any]:
    return {
        "cell": run_url("cell", head.run),
        "cases": run_url("cases", head.run),
        "query": state.query(expected="", actual="", after=""),
        # The cell that is read where the address names none.
        "first": [state.expected, state.actual],
    }


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
