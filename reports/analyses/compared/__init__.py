"""Compare two runs on the same examples: what changed in layers, tools and the matrix.

An example counts once, with all its trials, which are alike.
"""

from __future__ import annotations

from dataclasses import dataclass

from reports.analyses.compared.layers import LayerDelta, layer_deltas
from reports.analyses.compared.matrix import MatrixDelta, matrix_delta
from reports.analyses.compared.pairing import Paired
from reports.analyses.compared.tallying import tallied
from reports.analyses.compared.tools import ToolDelta, tool_deltas


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Everything that is told of two runs on the `examples` that both hold."""

    examples: int
    layers: tuple[LayerDelta, ...]
    tools: tuple[ToolDelta, ...]
    matrix: MatrixDelta

    def layer(self, name: str) -> LayerDelta | None:
        """Return the row of a verdict, by default that of the outcome or else the first; None without any."""
        by_name = {row.name: row for row in self.layers}
        return by_name.get(name) or next(iter(self.layers), None)


def compared(paired: Paired) -> RunComparison:
    """Return the comparison of two runs."""
    tally = tallied(paired)
    layers = layer_deltas(paired.verdicts.read())
    return RunComparison(paired.examples, layers, tool_deltas(tally), matrix_delta(tally))


__all__ = ["LayerDelta", "MatrixDelta", "Paired", "RunComparison", "ToolDelta", "compared"]
