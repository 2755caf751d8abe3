"""One cell of the matrix, read: how much it is, what the two tools say of themselves, its cases."""

from __future__ import annotations

from dataclasses import dataclass, replace

from reports.analyses.matrix import Cell, Matrix
from reports.analyses.rates import Rate
from reports.case_rows import CaseRow, case_rows
from reports.matrix_state import MatrixState
from reports.queries import listed_cases, page_of
from toolevals.grading.metrics.classes import NO_MAJORITY, SPECIAL
from toolevals.grading.verdicts import NONE, UNKNOWN_TOOL, UNPARSED
from toolevals.registry.tool_lists import tools_in
from toolevals.runs.models import CaseGrade, Grading, Subject
from toolevals.runs.offers import tools_offered

CASES_A_PAGE = 20
MODE_OF_CLASS = {
    NONE: "missed_call",
    UNKNOWN_TOOL: "hallucinated_tool",
    UNPARSED: "malformed_output",
    NO_MAJORITY: "no_majority",
}


@dataclass(frozen=True, slots=True)
class Described:
    """A tool and what its spec says of it, in the words that the subject was given in the cell's first case."""

    name: str
    description: str


@dataclass(frozen=True, slots=True)
class CellReading:
    """The selected cell. `rank` counts confusions from the largest, 0 on the diagonal."""

    cell: Cell
    rate: Rate
    mode: str
    rank: int
    confusions: int
    previous: Cell | None
    next: Cell | None
    tools: tuple[Described, ...]
    cases: tuple[CaseRow, ...]
    more_after: str


def read_cell(grading: Grading, matrix: Matrix, state: MatrixState) -> CellReading | None:
    """Return the selected cell, by default the largest confusion; None where there is nothing to read."""
    chosen = _chosen(matrix, state)
    if chosen is None:
        return None
    state = replace(state, expected=chosen.expected, actual=chosen.actual)
    page = page_of(listed_cases(grading, state.case_filter), state.after, CASES_A_PAGE)
    places = {(cell.expected, cell.actual): place for place, cell in enumerate(matrix.confusions)}
    place = places.get((chosen.expected, chosen.actual))
    largest_first = matrix.confusions
    return CellReading(
        cell=chosen,
        rate=chosen.rate,
        mode=cell_mode(chosen),
        rank=0 if place is None else place + 1,
        confusions=len(largest_first),
        previous=largest_first[place - 1] if place else None,
        next=_following(largest_first, place),
        tools=_described(page[0], chosen, grading.run.subject) if page else (),
        cases=case_rows(page[:CASES_A_PAGE]),
        more_after=str(page[CASES_A_PAGE - 1].pk) if len(page) > CASES_A_PAGE else "",
    )


def cell_mode(cell: Cell) -> str:
    """Return what a cell means, in the words of the failure modes; empty where it is right."""
    if cell.right:
        return ""
    named = {
        NONE: "missed_call",
        UNKNOWN_TOOL: "hallucinated_tool",
        UNPARSED: "malformed_output",
        NO_MAJORITY: "no_majority",
    }
    if cell.actual in named:
        return named[cell.actual]
    return "needless_call" if cell.expected == NONE else "wrong_tool"


def _chosen(matrix: Matrix, state: MatrixState) -> Cell | None:
    if state.has_cell:
        return matrix.cell(state.expected, state.actual)
    return next(iter(matrix.confusions), None)


def _following(confusions: tuple[Cell, ...], place: int | None) -> Cell | None:
    after = 0 if place is None else place + 1
    return confusions[after] if after < len(confusions) else None


def _described(case: CaseGrade, cell: Cell, subject: Subject) -> tuple[Described, ...]:
    offered = tools_offered(tools_in(case.transcript.entry.revision.tools), subject)
    specs = {spec.name: spec for spec in offered}
    names = [name for name in dict.fromkeys((cell.expected, cell.actual)) if name not in SPECIAL]
    return tuple(Described(name, specs[name].description) for name in names if name in specs)
