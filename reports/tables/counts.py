"""Define the columns that several tables share: counts, and the rate of them."""

from __future__ import annotations

from typing import Final, Protocol

from reports.analyses.rates import Rate
from toolevals.presentation.csv import Cell
from toolevals.presentation.table import RATE, Column

# The counts of a row and their rate: in an answer the rate comes first, in a file it comes last.
RATED: Final = (
    Column("passed", int, "rate.passed", only="file"),
    Column("rate", RATE, only="answer"),
    *(Column(name, int) for name in ("failed", "unscored", "errored")),
    Column("rate", RATE, only="file"),
)
COUNTED: Final = ("passed", "failed", "unscored", "errored", "rate", "rate_low", "rate_high")


class Counted(Protocol):
    """A row of some report: `rate` counts what passed among what was scored."""

    @property
    def rate(self) -> Rate: ...
    @property
    def failed(self) -> int: ...
    @property
    def unscored(self) -> int: ...
    @property
    def errored(self) -> int: ...


def counted(row: Counted) -> tuple[Cell, ...]:
    """Return the cells of `COUNTED`."""
    rate = row.rate
    return (rate.passed, row.failed, row.unscored, row.errored, rate.value, rate.low, rate.high)
