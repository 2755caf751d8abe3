"""Work out what the cases of a cell cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from toolevals.grading.metrics.confusion import SPECIAL

Cell = tuple[str, str]


class Basis(StrEnum):
    """The unit of costs: the run's prices, else tokens, else what tools cost relative to each other."""

    PRICE = "price"
    TOKENS = "tokens"
    RELATIVE = "relative"


@dataclass(frozen=True, slots=True)
class Cost:
    """The sum over the cases of a cell that say what they cost, and how many do."""

    total: Decimal
    known: int

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.total + other.total, self.known + other.known)


def relative_costs(counts: Mapping[Cell, int], costs: Mapping[str, float]) -> dict[Cell, Cost]:
    """Return what the called tools cost, by cell, from what one call of each costs; no call costs nothing.

    A name that is not offered, or a tool whose cost no one says, has none.
    """
    known = {name: Decimal(str(cost)) for name, cost in costs.items()} | {SPECIAL[0]: Decimal(0)}
    return {cell: Cost(count * known[cell[1]], count) for cell, count in counts.items() if cell[1] in known}
