"""Runs the metric ToolCorrectness of `deepeval`, with names, order and arguments compared and without its model."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

DISTRIBUTION = "deepeval"


def steps(_: Path) -> Mapping[str, Callable[..., Any]]:
    """Return `load`, and `right` and `wrong`, which return how many answers passed."""
    # It makes a client of its model, which it does not ask here.
    os.environ.setdefault("OPENAI_API_KEY", "none")
    from deepeval.metrics import ToolCorrectnessMetric  # type: ignore[import-not-found]
    from deepeval.test_case import LLMTestCase, ToolCall, ToolCallParams  # type: ignore[import-not-found]

    metric = ToolCorrectnessMetric(
        threshold=1,
        evaluation_params=[ToolCallParams.INPUT_PARAMETERS],
        should_exact_match=True,
        include_reason=False,
        async_mode=False,
    )
    cases: dict[str, list[Any]] = {}

    def made(calls: list[dict[str, Any]]) -> list[Any]:
        return [ToolCall(name=call["name"], input_parameters=call["arguments"]) for call in calls]

    def load(path: str) -> int:
        rows = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]
        for answer in ("right", "wrong"):
            cases[answer] = [
                LLMTestCase(
                    input="?", actual_output="", tools_called=made(row[answer]), expected_tools=made(row["right"])
                )
                for row in rows
            ]
        return len(rows)

    def passed(answer: str) -> int:
        return sum(metric.measure(case, _show_indicator=False) == 1 for case in cases[answer])

    return {"load": load, "right": lambda: passed("right"), "wrong": lambda: passed("wrong")}
