"""A simulator of scripted results: each call is answered by the first script that matches it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from toolevals.agents.simulations import ScriptedResult, Simulation
from toolevals.agents.worlds import NotSimulatedError, ToolAnswer, World
from toolevals.grading.equality import PROFILES
from toolevals.grading.matching import compile_call
from toolevals.grading.values import ToolCall


class ScriptedSimulator:
    """Answers from the example's own results first, then from those given here, which serve a whole dataset."""

    def __init__(self, results: Sequence[ScriptedResult] = ()) -> None:
        self._results = tuple(results)

    @contextmanager
    def world(self, example: Mapping[str, Any]) -> Iterator[World]:
        """Yield a world in which no script is used up yet."""
        yield _Script((*Simulation.of_example(example).results, *self._results))


class _Script:
    def __init__(self, results: Sequence[ScriptedResult]) -> None:
        profile = PROFILES["standard"]
        self._scripts = [(result, compile_call(result.call, profile)) for result in results]
        self._used = [0] * len(self._scripts)

    def call(self, call: ToolCall) -> ToolAnswer:
        for place, (result, compiled) in enumerate(self._scripts):
            if result.call.tool != call.name or self._used[place] == result.times:
                continue
            if compiled.check(call.arguments).proved:
                self._used[place] += 1
                return ToolAnswer(text_of(result.content), result.is_error)
        raise NotSimulatedError(call.name)

    def state(self) -> Mapping[str, Any] | None:
        return None


def text_of(content: Any) -> str:
    """Return a result as an agent reads it: text as it is, anything else as JSON."""
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
