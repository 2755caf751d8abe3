"""Work out what rates are held to, the rates themselves, and the columns that tables show them in."""

from __future__ import annotations

from typing import Final

from toolevals.grading.metrics.clustered import FEWEST_EXAMPLES, ExampleSums, Rate, rate, rate_of
from toolevals.grading.values.verdict_table import VERDICTS
from toolevals.presentation.table import RATE, Column

__all__ = ["FEW", "FEW_WORDS", "GOALS", "TOOL_GOAL", "ExampleSums", "Rate", "few_of", "rate", "rate_of"]

# The sign of a rate over so few examples that it cannot tell, and what the sign says.
FEW: Final = "*"
FEW_WORDS: Final = f"Fewer than {FEWEST_EXAMPLES} examples: too few for a conclusion"

# The share of each layer and depth that a release should reach; the gate's defaults.
GOALS = {row.name: row.goal for row in VERDICTS}
TOOL_GOAL = 0.95


def few_of(rate: Rate) -> str:
    """Return the sign of a rate over so few examples that it cannot tell; nothing of the others."""
    return "" if rate.value is None or rate.tells else FEW


# The counts of a row and their rate: in an answer the rate comes first, in a file it comes last.
RATED: Final = (
    Column("passed", int, "rate.passed", only="file"),
    Column("rate", RATE, only="answer"),
    *(Column(name, int) for name in ("failed", "unscored", "errored")),
    Column("rate", RATE, only="file"),
)
