# /// script
# requires-python = "==3.11.*"
# dependencies = [
#   "ragas==0.4.3",
#   "langchain-community<0.4",
# ]
# ///
"""Runs the metric ToolCallAccuracy of `ragas`, in one event loop over all answers, as its own evaluation does.

It imports a module that later versions of langchain-community no longer hold.
"""

from __future__ import annotations

import asyncio
from typing import Any

DISTRIBUTION, TITLE, KIND = "ragas", "Ragas", "grading"


def graders() -> dict[str, Any]:
    """Return its one grader."""
    from ragas.messages import AIMessage, ToolCall  # type: ignore[import-not-found]
    from ragas.metrics.collections import ToolCallAccuracy  # type: ignore[import-not-found]

    metric = ToolCallAccuracy()

    def told(calls: Any) -> list[Any]:
        return [ToolCall(name=call["name"], args=call["arguments"]) for call in calls]

    async def passed(cases: Any) -> int:
        found = [await metric.ascore(user_input=said, reference_tool_calls=gold) for said, gold in cases]
        return sum(each.value == 1 for each in found)

    def made(row: Any, calls: Any) -> Any:
        return [AIMessage(content="", tool_calls=told(calls))], told(row["right"])

    return {"": (made, lambda cases: asyncio.run(passed(cases)))}
