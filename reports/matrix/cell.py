"""Read one cell of the matrix: its share, the two tools' descriptions, its cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.db.models import QuerySet

from labeling.conversation.turns import last_request
from reports.cases.queries import listed_cases, page_of
from reports.cases.reading import CaseRow, case_rows
from reports.filters.dividing import without_effect
from reports.matrix.advice import Advice, ConfusedCase, Confusion, advice_on
from reports.matrix.analysis import Cell, Cells, Matrix
from reports.matrix.state import MatrixState
from reports.rates import Rate
from toolevals.grading.metrics.confusion import NO_MAJORITY
from toolevals.grading.values import ToolCall, ToolSpec, Transcript
from toolevals.grading.values.verdicts import NONE, UNKNOWN_TOOL, UNPARSED
from toolevals.registry.tool_lists import tools_in
from toolevals.runs.aggregates.cube import View
from toolevals.runs.models import Agent, CaseGrade, Grading
from toolevals.runs.queries import tools_offered

CASES_A_PAGE = 20
# So many cases are read for what they have in common.
READ = 100


@dataclass(frozen=True, slots=True)
class CellReading:
    """The selected cell. `rank` counts confusions from the largest, 0 on the diagonal.

    `tools` are the two, in the words that the agent was given in the first case. `case_count` is how many cases
    there are, of which each may hold several aligned calls.
    """

    cell: Cell
    rate: Rate
    mode: str
    rank: int
    confusions: int
    previous: Cell | None
    next: Cell | None
    tools: tuple[ToolSpec, ...]
    advice: Advice | None
    case_count: int
    cases: tuple[CaseRow, ...]
    more_after: str


def read_cell(grading: Grading, matrix: Matrix, state: MatrixState) -> CellReading | None:
    """Return the selected cell, by default the largest confusion; None where there is nothing to read."""
    chosen = _chosen(matrix, state)
    if chosen is None:
        return None
    state = replace(state, expected=chosen.expected, actual=chosen.actual)
    listed = listed_cases(grading, state.case_filter)
    page = page_of(listed, state.after, CASES_A_PAGE)
    first = next(iter(page_of(listed, "", 1) if state.after else page), None)
    offered = _offered(first, grading.run.agent) if first else {}
    largest_first = matrix.confusions
    key = chosen.expected, chosen.actual
    place = largest_first.keys.index(key) if not chosen.right and chosen.count else None
    return CellReading(
        cell=chosen,
        rate=chosen.rate,
        mode=cell_mode(chosen),
        rank=0 if place is None else place + 1,
        confusions=len(largest_first),
        previous=largest_first[place - 1] if place else None,
        next=_following(largest_first, place),
        tools=tuple(offered[name] for name in dict.fromkeys(_names(chosen, state)) if name in offered),
        advice=(
            None
            if chosen.expected_class == chosen.called or first is None
            else _advice(chosen, _names(chosen, state), matrix, listed, offered)
        ),
        case_count=chosen.count if state.filters.view is not View.ALIGNED else listed.count(),
        cases=case_rows(page[:CASES_A_PAGE]),
        more_after=str(page[CASES_A_PAGE - 1].pk) if len(page) > CASES_A_PAGE else "",
    )


def cell_mode(cell: Cell) -> str:
    """Return what a cell means, in the words of the failure modes; empty where it is right."""
    if cell.right:
        return ""
    if cell.expected_class == cell.called:
        return "wrong_arguments"
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
    gone = state.filters.split and not (state.expected in matrix.row_totals and state.actual in matrix.column_totals)
    if state.has_cell and not gone:
        return matrix.cell(state.expected, state.actual)
    return next(iter(matrix.confusions), None)


def _following(confusions: Cells, place: int | None) -> Cell | None:
    after = 0 if place is None else place + 1
    return confusions[after] if after < len(confusions) else None


def _offered(case: CaseGrade, agent: Agent) -> dict[str, ToolSpec]:
    specs = tools_offered(tools_in(case.transcript.entry.revision.tools), agent)
    return {spec.name: spec for spec in specs}


def _names(cell: Cell, state: MatrixState) -> tuple[str, str]:
    """Return what is expected and what is called, without what divides them."""
    split = state.filters.split
    return without_effect(cell.expected_class, split), without_effect(cell.called, split)


def _advice(
    cell: Cell,
    names: tuple[str, str],
    matrix: Matrix,
    listed: QuerySet[CaseGrade],
    offered: Mapping[str, ToolSpec],
) -> Advice:
    """Read the cell from its first cases, at most READ of them."""
    expected, actual = names
    wants_names = cell.actual == UNKNOWN_TOOL
    cases = listed.order_by("pk").select_related("transcript__entry__revision__example").defer("detail")
    cases = cases if wants_names else cases.defer("detail", "transcript__document")
    return advice_on(
        Confusion(
            expected=expected,
            actual=actual,
            expected_spec=offered.get(expected),
            actual_spec=offered.get(actual),
            cases=[_asked(case, wants_names) for case in cases[:READ]],
            reverse=matrix.count_of(cell.called, cell.expected_class),
            count=cell.count,
            offered=tuple(offered),
        )
    )


def _asked(case: CaseGrade, wants_names: bool) -> ConfusedCase:
    revision = case.transcript.entry.revision
    document = case.transcript.document if wants_names else None
    called = Transcript.from_document(document).calls if document else ()
    names = tuple(call.name for call in called if isinstance(call, ToolCall))
    return ConfusedCase(revision.example.external_id, str(case.pk), last_request(revision.input), names)
