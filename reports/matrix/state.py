"""Read everything that the matrix page shows from its address: a page's state is its URL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from reports.filters.case_filters import (
    LONGEST_CLASS,
    CaseFilter,
    Filters,
    Split,
    address_query,
    choice,
    number,
    read_filters,
    text,
)
from reports.matrix.analysis import Order


class Measure(StrEnum):
    """The number in a cell: its count, its share of its row or column in percent, or the cost of its cases."""

    COUNT = "count"
    ROW = "row"
    COLUMN = "column"
    COST = "cost"


class Show(StrEnum):
    """The drawing of the matrix; by default as the person chose last, else by the width of the window."""

    CHOSEN = ""
    HEAT = "heat"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class MatrixState:
    """Filters, how the matrix is drawn, and the selected cell with its page of cases."""

    filters: Filters = field(default_factory=Filters)
    grading: int | None = None
    order: Order = Order.ERROR
    measure: Measure = Measure.COUNT
    hide_diagonal: bool = False
    all_classes: bool = False
    # Only classes whose name holds this, and those that they are confused with.
    find: str = ""
    show: Show = Show.CHOSEN
    expected: str = ""
    actual: str = ""
    after: str = ""

    @property
    def has_cell(self) -> bool:
        return bool(self.expected and self.actual)

    @property
    def without_cell(self) -> MatrixState:
        """The matrix alone: no cell is selected, and its table and heat map are one."""
        return replace(self, grading=None, show=Show.CHOSEN, expected="", actual="", after="")

    @property
    def undivided(self) -> MatrixState:
        """The same with whole classes: what a table of tools is of."""
        return replace(self, filters=replace(self.filters, split=Split.NOTHING, split_argument=""))

    @property
    def case_filter(self) -> CaseFilter:
        """The selected cell as a list of cases."""
        return CaseFilter(self.filters, self.expected, self.actual)

    def query(self, **changes: Any) -> str:
        """Return it as the query of an address, with some fields changed; what is as by default is left out."""
        state = replace(self, **changes)
        return address_query(
            state.filters.parameters()
            | {
                "grading": state.grading or "",
                "order": "" if state.order is Order.ERROR else state.order,
                "measure": "" if state.measure is Measure.COUNT else state.measure,
                "diagonal": "hide" if state.hide_diagonal else "",
                "classes": "all" if state.all_classes else "",
                "find": state.find,
                "show": state.show,
                "expected": state.expected,
                "actual": state.actual,
                "after": state.after,
            }
        )

    def cell_query(self, expected: str, actual: str) -> str:
        """Return the address's query with a cell selected."""
        return self.query(expected=expected, actual=actual, after="")


def read_matrix_state(parameters: Mapping[str, str]) -> MatrixState:
    """Return the state that the address asks for; a value that is none of the choices counts as not given."""
    expected, actual = (text(parameters, name, LONGEST_CLASS) for name in ("expected", "actual"))
    both = bool(expected and actual)
    return MatrixState(
        filters=read_filters(parameters),
        grading=number(parameters, "grading"),
        order=choice(Order, parameters, "order", Order.ERROR),
        measure=choice(Measure, parameters, "measure", Measure.COUNT),
        hide_diagonal=parameters.get("diagonal") == "hide",
        all_classes=parameters.get("classes") == "all",
        find=text(parameters, "find"),
        show=choice(Show, parameters, "show", Show.CHOSEN),
        expected=expected if both else "",
        actual=actual if both else "",
        after=text(parameters, "after") if both else "",
    )
