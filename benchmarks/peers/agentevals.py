"""Runs the strict trajectory match of `agentevals`, which compares calls with exact arguments."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

DISTRIBUTION = "agentevals"


def steps(_: Path) -> Mapping[str, Callable[..., Any]]:
    """Return `load`, and `right` and `wrong`, which return how many answers passed."""
    from agentevals.trajectory.match import create_trajectory_match_evaluator  # type: ignore[import-not-found]

    evaluator = create_trajectory_match_evaluator(trajectory_match_mode="strict", tool_args_match_mode="exact")
    cases: dict[str, list[Any]] = {}

    def load(path: str) -> int:
        rows = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]
        for answer in ("right", "wrong"):
            cases[answer] = [(_messages(row[answer]), _messages(row["right"])) for row in rows]
        return len(rows)

    def passed(answer: str) -> int:
        return sum(bool(evaluator(outputs=said, reference_outputs=gold)["score"]) for said, gold in cases[answer])

    return {"load": load, "right": lambda: passed("right"), "wrong": lambda: passed("wrong")}


def _messages(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    made = [{"function": {"name": call["name"], "arguments": json.dumps(call["arguments"])}} for call in calls]
    return [{"role": "assistant", "content": "", "tool_calls": made}]
