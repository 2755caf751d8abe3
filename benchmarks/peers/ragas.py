"""Runs the metric ToolCallAccuracy of `ragas`, in one event loop over all answers, as its own evaluation does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

DISTRIBUTION = "ragas"


def steps(_: Path) -> Mapping[str, Callable[..., Any]]:
    """Return `load`, and `right` and `wrong`, which return how many answers passed."""
    from ragas.messages import AIMessage, ToolCall  # type: ignore[import-not-found]
    from ragas.metrics.collections import ToolCallAccuracy  # type: ignore[import-not-found]

    metric = ToolCallAccuracy()
    cases: dict[str, list[Any]] = {}

    def made(calls: list[dict[str, Any]]) -> list[Any]:
        return [ToolCall(name=call["name"], args=call["arguments"]) for call in calls]

    def load(path: str) -> int:
        rows = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]
        for answer in ("right", "wrong"):
            cases[answer] = [
                ([AIMessage(content="", tool_calls=made(row[answer]))], made(row["right"])) for row in rows
            ]
        return len(rows)

    async def passed(answer: str) -> int:
        found = [await metric.ascore(user_input=said, reference_tool_calls=gold) for said, gold in cases[answer]]
        return sum(each.value == 1 for each in found)

    return {
        "load": load,
        "right": lambda: asyncio.run(passed("right")),
        "wrong": lambda: asyncio.run(passed("wrong")),
    }
