"""Answers from scripted results, as a simulator: each call is answered by the first script that matches it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from toolevals.agents.simulations import ScriptedResult, Simulation
from toolevals.agents.worlds import Nothing, Simulator, ToolAnswer, World
from toolevals.grading.matching.compiled_calls import compile_call
from toolevals.grading.matching.equality import PROFILES
from toolevals.grading.values import ToolCall


class ScriptedSimulator:
    """Answers from the example's own results first, then from those given here, then by the simulator `behind` them."""

    def __init__(self, results: Sequence[ScriptedResult] = (), behind: Simulator | None = None) -> None:
        self._results = tuple(results)
        self._behind = behind

    @contextmanager
    def world(self, example: Mapping[str, Any]) -> Iterator[World]:
        """Yield a world in which no script is used up yet. Raises WorldDiedError."""
        results = (*Simulation.of_example(example).results, *self._results)
        with self._behind.world(example) if self._behind else nullcontext(Nothing()) as world:
            yield _Script(results, world) if results else world


class _Script:
    def __init__(self, results: Sequence[ScriptedResult], behind: World) -> None:
        profile = PROFILES["standard"]
        self._scripts = [(result, compile_call(result.call, profile)) for result in results]
        self._used = [0] * len(self._scripts)
        self._behind = behind

    def call(self, call: ToolCall) -> ToolAnswer:
        for place, (result, compiled) in enumerate(self._scripts):
            if result.call.tool != call.name or self._used[place] == result.times:
                continue
            if compiled.check(call.arguments).proved:
                self._used[place] += 1
                return ToolAnswer(text_of(result.content), result.is_error)
        return self._behind.call(call)

    def state(self) -> Mapping[str, Any] | None:
        return self._behind.state()


def text_of(content: Any) -> str:
    """Return a result as an agent reads it: text as it is, anything else as JSON."""
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
