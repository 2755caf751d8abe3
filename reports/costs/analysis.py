"""Work out what the calls to each tool took: the table, its order and its sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import fsum

from toolevals.runs.aggregates.tool_spending import Amount, ToolSpent


class By(StrEnum):
    """The order of tools: the largest first, names from the first letter."""

    TOOL = "tool"
    CALLS = "calls"
    EXECUTION_P50 = "execution_p50"
    EXECUTION_P95 = "execution_p95"
    EXECUTION_P99 = "execution_p99"
    STEP_P50 = "step_p50"
    STEP_P95 = "step_p95"
    STEP_P99 = "step_p99"
    TOKENS_IN = "tokens_in"
    TOKENS_OUT = "tokens_out"
    COST = "cost"


# By default the first of these that anything was recorded of.
DEFAULTS = (By.COST, By.TOKENS_IN, By.STEP_P95, By.EXECUTION_P95, By.CALLS)


@dataclass(frozen=True, slots=True)
class ToolCosts:
    """Every tool that was called, in order, and what all of them took together; None where nothing is recorded."""

    rows: tuple[ToolSpent, ...]
    by: By

    @property
    def calls(self) -> int:
        return sum(row.calls for row in self.rows)

    @property
    def says_anything(self) -> bool:
        """True where more than the number of calls is known of any."""
        return any(row.says_anything for row in self.rows)

    @property
    def tokens_in(self) -> float | None:
        return _sum([row.tokens_in for row in self.rows])

    @property
    def tokens_out(self) -> float | None:
        return _sum([row.tokens_out for row in self.rows])

    @property
    def cost(self) -> float | None:
        return _sum([row.cost for row in self.rows])


def tool_costs(rows: Sequence[ToolSpent], by: By | None = None) -> ToolCosts:
    """Return the table ordered by `by`; tools of which that is not recorded come last, ties go by name."""
    chosen = by or next((each for each in DEFAULTS if any(_key(each)(row) is not None for row in rows)), By.CALLS)
    if chosen is By.TOOL:
        return ToolCosts(tuple(sorted(rows, key=lambda row: row.tool)), chosen)
    key = _key(chosen)

    def place(row: ToolSpent) -> tuple[bool, float, str]:
        value = key(row)
        return value is None, -(value or 0.0), row.tool

    return ToolCosts(tuple(sorted(rows, key=place)), chosen)


def _key(by: By) -> Callable[[ToolSpent], float | None]:
    if by is By.CALLS:
        return lambda row: float(row.calls)
    if by in (By.TOKENS_IN, By.TOKENS_OUT, By.COST):
        return lambda row: getattr(row, by).total
    part, _, name = by.rpartition("_")

    def percentile(row: ToolSpent) -> float | None:
        at = getattr(getattr(row, f"{part}_ms"), name)
        return None if at is None else at.value

    return percentile


def _sum(amounts: Sequence[Amount]) -> float | None:
    known = [amount.total for amount in amounts if amount.total is not None]
    return fsum(known) if known else None
