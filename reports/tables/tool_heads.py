"""Write the heads of the table of tools: what each sorts by, as an address."""

from __future__ import annotations

from dataclasses import dataclass

from reports.analyses.tools import ToolOrder
from reports.filters.case_filters import address_query

# Title -> what it sorts by, and whether it stands over numbers.
HEADS: tuple[tuple[str, ToolOrder | None, bool], ...] = (
    ("Tool", ToolOrder.NAME, False),
    ("n", ToolOrder.SUPPORT, True),
    ("Precision", ToolOrder.PRECISION, True),
    ("95 %", None, False),
    ("Recall", ToolOrder.RECALL, True),
    ("95 %", None, False),
    ("F1", ToolOrder.F1, True),
    ("95 %", None, True),
    ("Most often called instead", ToolOrder.LOST, False),
)
FALLING = (ToolOrder.SUPPORT, ToolOrder.LOST)


@dataclass(frozen=True, slots=True)
class Head:
    """One head. `query` is None where nothing is sorted by it; `now` says that the rows are sorted by it."""

    title: str
    right: bool
    query: str | None = None
    words: str = ""
    now: bool = False
    sorted: str = ""


def tool_heads(order: ToolOrder, *, all_tools: bool, grading: int | None) -> tuple[Head, ...]:
    """Return the heads of the table of tools as it is sorted."""
    heads = []
    for title, by, right in HEADS:
        if by is None:
            heads.append(Head(title, right))
            continue
        query = tool_query(by, all_tools=all_tools, grading=grading)
        heads.append(Head(title, right, query, by.words, by is order, "descending" if by in FALLING else "ascending"))
    return tuple(heads)


def tool_query(order: ToolOrder, *, all_tools: bool, grading: int | None) -> str:
    """Return the query of the overview with its tools in an order, all of them or the first."""
    sort = "" if order is ToolOrder.F1 else order.value
    return address_query({"grading": grading or "", "sort": sort, "tools": "all" if all_tools else ""})
