"""Work out the per-tool table: precision, recall and F1 of each class; and what its heads sort by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from reports.filters.case_filters import address_query
from reports.matrix.analysis import Cell, Matrix
from reports.rates import ExampleSums, Rate, rate
from toolevals.grading.metrics.clustered import clustered_interval, f1_sums
from toolevals.grading.metrics.confusion import ConfusionMatrix
from toolevals.grading.metrics.rates import Interval
from toolevals.grading.values.verdicts import UNKNOWN_TOOL, UNPARSED


class ToolOrder(StrEnum):
    """By what a table of tools is sorted."""

    F1 = "f1"
    LOST = "lost"
    PRECISION = "precision"
    RECALL = "recall"
    SUPPORT = "n"
    NAME = "name"

    @property
    def words(self) -> str:
        return {
            "f1": "worst F1 first",
            "lost": "most often mistaken first",
            "precision": "worst precision first",
            "recall": "worst recall first",
            "n": "most cases first",
            "name": "by name",
        }[self.value]


@dataclass(frozen=True, slots=True)
class ToolRow:
    """One class: how often expected (support), called (predicted), both (correct); and what was called instead."""

    name: str
    support: int
    predicted: int
    correct: int
    precision: Rate
    recall: Rate
    f1: float | None
    instead: Cell | None
    total: int
    f1_sums: ExampleSums | None = None

    @property
    def averaged(self) -> bool:
        """Return whether it counts in the averages: `(unknown tool)` and `(unparsed)` are never expected and do not."""
        return bool(self.support) or self.name not in (UNKNOWN_TOOL, UNPARSED)

    @property
    def f1_interval(self) -> Interval | None:
        """The interval of F1, a ratio as a rate is one."""
        if self.f1 is None:
            return None
        if self.f1_sums is None:
            return clustered_interval(f1_sums(self.correct, self.support, self.predicted))
        return rate(2 * self.correct, self.support + self.predicted, self.f1_sums).interval


@dataclass(frozen=True, slots=True)
class ToolTable:
    """Every class that was expected or called, worst F1 first; the classes that nothing can expect last."""

    rows: tuple[ToolRow, ...]
    accuracy: Rate
    macro_f1: float | None
    micro_f1: float | None


def tools_of(matrix: Matrix) -> ToolTable:
    """Return the table of a matrix."""
    metrics = ConfusionMatrix(matrix.counts)
    instead: dict[str, tuple[str, str]] = {}
    for key in matrix.confusions.keys:
        instead.setdefault(key[0], key)
    rows = [
        ToolRow(
            name=each.name,
            support=each.support,
            predicted=each.predicted,
            correct=each.correct,
            precision=matrix.precision(each.name),
            recall=matrix.recall(each.name),
            f1=each.f1,
            instead=matrix.cell(*instead[each.name]) if each.name in instead else None,
            total=matrix.total,
            f1_sums=matrix.sums_of("f1", each.name),
        )
        for each in metrics.per_class
    ]
    rows.sort(key=lambda row: (not row.averaged, row.f1 or 0.0, -row.support, row.name))
    return ToolTable(tuple(rows), matrix.accuracy, metrics.macro_f1, metrics.micro_f1)


def ordered_tools(rows: Sequence[ToolRow], order: ToolOrder) -> list[ToolRow]:
    """Return the rows of a table in another order; ties stay as they stood, a rate that is not defined comes last."""
    keys: dict[ToolOrder, Callable[[ToolRow], Any]] = {
        ToolOrder.LOST: lambda row: -(row.support + row.predicted - 2 * row.correct),
        ToolOrder.PRECISION: lambda row: 2.0 if row.precision.value is None else row.precision.value,
        ToolOrder.RECALL: lambda row: 2.0 if row.recall.value is None else row.recall.value,
        ToolOrder.SUPPORT: lambda row: -row.support,
        ToolOrder.NAME: lambda row: row.name,
    }
    return sorted(rows, key=keys[order]) if order in keys else list(rows)


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
