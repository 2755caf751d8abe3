# /// script
# requires-python = "==3.11.*"
# dependencies = [
#   "deepeval==4.3.1",
# ]
# ///
"""Runs the metric ToolCorrectness of `deepeval`, with names, order and arguments compared and without its model."""

from __future__ import annotations

import os
from typing import Any

DISTRIBUTION, TITLE, KIND = "deepeval", "DeepEval", "grading"


def graders() -> dict[str, Any]:
    """Return its one grader."""
    # It makes a client of its model, which it does not ask here.
    os.environ.setdefault("OPENAI_API_KEY", "none")
    from deepeval.metrics import ToolCorrectnessMetric  # type: ignore[import-not-found]
    from deepeval.test_case import LLMTestCase, ToolCall, ToolCallParams  # type: ignore[import-not-found]

    compared = [ToolCallParams.INPUT_PARAMETERS]
    metric = ToolCorrectnessMetric(
        threshold=1, evaluation_params=compared, should_exact_match=True, include_reason=False, async_mode=False
    )

    def told(calls: Any) -> list[Any]:
        return [ToolCall(name=call["name"], input_parameters=call["arguments"]) for call in calls]

    def made(row: Any, calls: Any) -> Any:
        return LLMTestCase(input="?", actual_output="", tools_called=told(calls), expected_tools=told(row["right"]))

    return {"": (made, lambda cases: sum(metric.measure(case, _show_indicator=False) == 1 for case in cases))}
