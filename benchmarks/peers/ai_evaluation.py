# /// script
# requires-python = "==3.11.*"
# dependencies = [
#   "ai-evaluation==1.1.0",
# ]
# ///
"""Runs the exact match of one call of `ai-evaluation`, by `evaluate`, as its users call it.

An answer is right if all its calls are.
"""

from __future__ import annotations

from typing import Any

DISTRIBUTION, TITLE, KIND = "ai-evaluation", "ai-evaluation", "grading"


def graders() -> dict[str, Any]:
    """Return its one grader."""
    from fi.evals.metrics.function_calling import FunctionCallExactMatch  # type: ignore[import-not-found]

    metric = FunctionCallExactMatch()

    def made(row: Any, calls: Any) -> Any:
        pairs = zip(calls, row["right"], strict=True)
        return [{"response": call, "expected_response": gold} for call, gold in pairs]

    def passed(cases: Any) -> int:
        return sum(all(each.output == 1 for each in metric.evaluate(calls).eval_results) for calls in cases)

    return {"": (made, passed)}
