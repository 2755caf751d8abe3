"""Read what a run's conversations and the calls to each tool took, as pages show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from reports.costs.analysis import By, ToolCosts, tool_costs
from reports.filters.case_filters import text
from toolevals.agents.loop import End
from toolevals.presentation.numbers import amount
from toolevals.runs.aggregates.spending import BUDGET, Spending
from toolevals.runs.aggregates.tool_spending import Amount, At, Timing, ToolSpent
from toolevals.runs.models import Grading, ToolSpending

STATS: Final = ("p50", "p95", "p99")
_AMOUNTS: Final = ("tokens_in", "tokens_out", "cost")
# What stands over each column of the table, and what it means.
HEADS: Final[Mapping[By, tuple[str, str]]] = {
    By.TOOL: ("Tool", ""),
    By.CALLS: ("Calls", ""),
    By.EXECUTION_P50: ("p50", "of the tool's execution"),
    By.EXECUTION_P95: ("p95", "of the tool's execution"),
    By.EXECUTION_P99: ("p99", "of the tool's execution"),
    By.STEP_P50: ("p50", "of the model's step"),
    By.STEP_P95: ("p95", "of the model's step"),
    By.STEP_P99: ("p99", "of the model's step"),
    By.TOKENS_IN: ("in", "tokens"),
    By.TOKENS_OUT: ("out", "tokens"),
    By.COST: ("Cost", ""),
}


@dataclass(frozen=True, slots=True)
class Figure:
    """A number as it is written, over how many it was recorded, and the case that it opens; "–" where over none."""

    text: str
    known: int
    case: str


@dataclass(frozen=True, slots=True)
class SpentRow:
    """A tool's figures in the order of the columns."""

    tool: str
    calls: int
    steps: int
    execution: tuple[Figure, ...]
    step: tuple[Figure, ...]
    amounts: tuple[Figure, ...]
    cost_of_a_call: str


def grading_tool_costs(grading: Grading, by: By | None = None) -> ToolCosts:
    """Return what each tool's calls took in a finished grading."""
    rows = (
        ToolSpending.objects.filter(grading=grading).order_by("tool").values_list("tool", "calls", "steps", "measured")
    )
    return tool_costs([ToolSpent.from_document(*row) for row in rows], by)


def read_order(parameters: Mapping[str, str]) -> By | None:
    """Return the order that the address asks for; what is none counts as not given."""
    asked = text(parameters, "order")
    return By(asked) if asked in list(By) else None


def spent_rows(costs: ToolCosts, most: int | None = None) -> list[SpentRow]:
    """Return the table's first rows."""
    return [
        SpentRow(
            row.tool,
            row.calls,
            row.steps,
            _times(row.execution_ms),
            _times(row.step_ms),
            tuple(_sum(getattr(row, name)) for name in _AMOUNTS),
            amount(row.cost.total / row.cost.known if row.cost.total is not None else None),
        )
        for row in costs.rows[:most]
    ]


def _times(timing: Timing) -> tuple[Figure, ...]:
    return tuple(_figure(getattr(timing, stat), timing.known) for stat in STATS)


def _figure(at: At | None, known: int) -> Figure:
    return Figure(amount(None), 0, "") if at is None else Figure(_milliseconds(at.value), known, at.case)


def _sum(found: Amount) -> Figure:
    return Figure(amount(found.total), found.known, found.most.case if found.most else "")


def _milliseconds(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.3g}"


# Every end in the order in which it is shown, and what it means in a few words.
ENDS: Final[dict[str, str]] = {
    End.ANSWER: "finished with an answer",
    End.CALLS: "stopped: no simulator for the tool",
    End.STEPS: "stopped: turn limit",
    End.LOOP: "repeated one call",
    End.ERRORS: "too many failing tools",
    "broken": "stopped before finishing",
    End.UNREACHABLE: "could not be reached: errored",
    BUDGET: "not started: unscored",
}


@dataclass(frozen=True, slots=True)
class EndRow:
    """The number of conversations that ended in one way."""

    name: str
    words: str
    count: int


@dataclass(frozen=True, slots=True)
class SpendingShown:
    """The money that was spent, with the ends in a fixed order and the cost of each passed case."""

    spending: Spending
    ends: tuple[EndRow, ...]
    cost_of_each: float | None

    @property
    def most(self) -> int:
        return max((end.count for end in self.ends), default=0)


def spending_shown(grading: Grading, passed: int) -> SpendingShown | None:
    """Return what the page of a run says of its conversations; None where they say nothing."""
    if grading.spending is None:
        return None
    spending = Spending.from_document(grading.spending)
    if not spending.says_of_conversations:
        return None
    order = {name: place for place, name in enumerate(ENDS)}
    ends = sorted(spending.ends.items(), key=lambda item: order.get(item[0], len(order)))
    rows = tuple(EndRow(name, ENDS.get(name, ""), count) for name, count in ends)
    return SpendingShown(spending, rows, spending.cost_of_each(passed))
