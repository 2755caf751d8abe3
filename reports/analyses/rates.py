"""Work out what rates are held to, and the rates themselves: none is shown without its count and its interval."""

from __future__ import annotations

from typing import Final

from toolevals.grading.metrics.clustered import FEWEST_EXAMPLES, ExampleSums, Rate, rate, rate_of
from toolevals.grading.values.verdict_table import VERDICTS

__all__ = ["FEW", "FEW_WORDS", "GOALS", "TOOL_GOAL", "ExampleSums", "Rate", "few_of", "rate", "rate_of"]

# The sign of a rate over so few examples that it cannot tell, and what the sign says.
FEW: Final = "*"
FEW_WORDS: Final = f"Fewer than {FEWEST_EXAMPLES} examples: the sample cannot tell"

# The share of each layer and depth that a release should reach; the gate's defaults.
GOALS = {row.name: row.goal for row in VERDICTS}
TOOL_GOAL = 0.95


def few_of(rate: Rate) -> str:
    """Return the sign of a rate over so few examples that it cannot tell; nothing of the others."""
    return "" if rate.value is None or rate.tells else FEW
