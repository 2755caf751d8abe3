"""Runs the exact match of one call of `ai-evaluation`, by `evaluate`, as its users call it.

An answer is right if all its calls are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

DISTRIBUTION = "ai-evaluation"


def steps(_: Path) -> Mapping[str, Callable[..., Any]]:
    """Return `load`, and `right` and `wrong`, which return how many answers passed."""
    from fi.evals.metrics.function_calling import FunctionCallExactMatch  # type: ignore[import-not-found]

    metric = FunctionCallExactMatch()
    cases: dict[str, list[Any]] = {}

    def load(path: str) -> int:
        rows = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]
        for answer in ("right", "wrong"):
            cases[answer] = [
                [
                    {"response": call, "expected_response": gold}
                    for call, gold in zip(row[answer], row["right"], strict=True)
                ]
                for row in rows
            ]
        return len(rows)

    def passed(answer: str) -> int:
        found = [metric.evaluate(calls).eval_results for calls in cases[answer]]
        return sum(all(each.output == 1 for each in results) for results in found)

    return {"load": load, "right": lambda: passed("right"), "wrong": lambda: passed("wrong")}
