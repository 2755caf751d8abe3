"""Makes tools fail as the example's script says, whatever world stands behind them.

A call that fails is not executed: the state stays as it was. Only `partial` executes it and cuts what comes back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from toolevals.agents.simulations import Fault
from toolevals.agents.worlds import ToolAnswer, World
from toolevals.grading.values import ToolCall

WORDS: Mapping[str, str] = {
    "400": "400 Bad Request: the request was not understood",
    "401": "401 Unauthorized: authentication is required",
    "403": "403 Forbidden: permission denied",
    "404": "404 Not Found: no such resource",
    "408": "408 Request Timeout",
    "429": "429 Too Many Requests: rate limit exceeded",
    "500": "500 Internal Server Error",
    "502": "502 Bad Gateway",
    "503": "503 Service Unavailable",
    "504": "504 Gateway Timeout",
    "timeout": "the tool timed out without an answer",
}


class FaultyWorld:
    """A world some of whose calls fail."""

    def __init__(self, world: World, faults: Sequence[Fault]) -> None:
        self._world = world
        self._faults = tuple(faults)
        self._called: Counter[str] = Counter()

    def call(self, call: ToolCall) -> ToolAnswer:
        self._called[call.name] += 1
        number = self._called[call.name]
        fault = next((each for each in self._faults if each.tool == call.name and each.strikes(number)), None)
        if fault is None:
            return self._world.call(call)
        if fault.fault == "empty":
            return ToolAnswer(fault.message)
        if fault.fault == "partial":
            return _cut(self._world.call(call))
        return ToolAnswer(_error(fault), is_error=True, is_fault=True)

    def state(self) -> Mapping[str, Any] | None:
        return self._world.state()


def _error(fault: Fault) -> str:
    words = fault.message or WORDS[fault.fault]
    after = "" if fault.retry_after is None else f" (Retry-After: {fault.retry_after:g})"
    return f"Error: {words}{after}"


def _cut(answer: ToolAnswer) -> ToolAnswer:
    return ToolAnswer(f"{answer.content[: len(answer.content) // 2]} [truncated]", answer.is_error, answer.latency_ms)
