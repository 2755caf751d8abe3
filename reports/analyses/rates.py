"""What rates are held to, and the rates themselves: none is shown without its count and its interval."""

from __future__ import annotations

from toolevals.grading.metrics.clustered import ExampleSums, Rate, rate, rate_of

__all__ = ["GOALS", "TOOL_GOAL", "ExampleSums", "Rate", "rate", "rate_of"]

# The share of each layer and depth that a release should reach; the gate's defaults.
GOALS = {
    "outcome": 0.95,
    "selection": 0.95,
    "arguments": 0.93,
    "result_use": 0.95,
    "recovery": 0.95,
    "answer": 0.95,
    "schema": 0.97,
    "shape": 0.97,
    "equivalence": 0.93,
    "execution": 0.95,
}
TOOL_GOAL = 0.95
