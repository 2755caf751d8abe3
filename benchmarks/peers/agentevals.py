# /// script
# requires-python = "==3.11.*"
# dependencies = [
#   "agentevals==0.0.9",
# ]
# ///
"""Runs the strict trajectory match of `agentevals`, which compares calls with exact arguments."""

from __future__ import annotations

import json
from typing import Any

DISTRIBUTION, TITLE, KIND = "agentevals", "agentevals", "grading"


def graders() -> dict[str, Any]:
    """Return its one grader."""
    from agentevals.trajectory.match import create_trajectory_match_evaluator  # type: ignore[import-not-found]

    evaluator = create_trajectory_match_evaluator(trajectory_match_mode="strict", tool_args_match_mode="exact")

    def passed(cases: Any) -> int:
        return sum(bool(evaluator(outputs=said, reference_outputs=gold)["score"]) for said, gold in cases)

    return {"": (lambda row, calls: (_messages(calls), _messages(row["right"])), passed)}


def _messages(calls: Any) -> list[dict[str, Any]]:
    made = [{"function": {"name": call["name"], "arguments": json.dumps(call["arguments"])}} for call in calls]
    return [{"role": "assistant", "content": "", "tool_calls": made}]
