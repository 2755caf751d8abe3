"""Reads an example's `simulation.v1.json`, answers calls from it, and makes tools fail as it says."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Self

from toolevals.agents.worlds import Nothing, Simulator, ToolAnswer, World
from toolevals.grading.matching.compiled_calls import compile_call
from toolevals.grading.matching.equality import PROFILES
from toolevals.grading.values import CallExpectation, ToolCall, call_expectation_from, require_earlier
from toolevals.grading.values.documents import require_valid
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject, JsonValue


@dataclass(frozen=True, slots=True)
class ScriptedResult:
    """The result of one kind of call, `times` times or always (None)."""

    call: CallExpectation
    content: JsonValue
    is_error: bool = False
    times: int | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """A tool's calls from the `nth` (from 1) on fail, `times` of them in succession; None: it never recovers."""

    tool: str
    fault: str
    nth: int = 1
    times: int | None = 1
    retry_after: float | None = None
    message: str = ""

    def strikes(self, number: int) -> bool:
        """Tell whether the tool's call of this number (from 1) fails."""
        return number >= self.nth and (self.times is None or number < self.nth + self.times)


@dataclass(frozen=True, slots=True)
class Simulation:
    """Scripted results, faults, the user's turns or instruction, and the state that the world begins with."""

    results: tuple[ScriptedResult, ...] = ()
    faults: tuple[Fault, ...] = ()
    turns: tuple[str, ...] = ()
    instruction: str = ""
    state: JsonMapping | None = None

    @classmethod
    def from_document(cls, document: JsonValue) -> Self:
        """Read the document. Raises InvalidDocument."""
        require_valid(document, "simulation")
        user = document.get("user", {})
        return cls(
            results=tuple(
                _result(result, f"/results/{place}") for place, result in enumerate(document.get("results", ()))
            ),
            faults=tuple(Fault(**fault) for fault in document.get("faults", ())),
            turns=tuple(user.get("turns", ())),
            instruction=user.get("instruction", ""),
            state=document.get("state"),
        )

    @classmethod
    def of_example(cls, example: JsonMapping) -> Self:
        """Read the `simulation` of an example's input, empty where it has none. Raises InvalidDocument."""
        try:
            return cls.from_document(example.get("simulation", {}))
        except InvalidDocument as error:
            raise error.below("/input/simulation") from None


def _result(document: JsonObject, pointer: str) -> ScriptedResult:
    call = call_expectation_from(
        {key: document[key] for key in ("tool", "arguments", "additional_arguments") if key in document}, pointer
    )
    # It answers single calls, and knows of no other.
    require_earlier(call, 1, pointer)
    is_error = "error" in document
    content = document["error"] if is_error else document["result"]
    return ScriptedResult(call, content, is_error, document.get("times"))


class ScriptedSimulator:
    """Answers from the example's own results first, then from those given here, then by the simulator `behind` them."""

    def __init__(self, results: Sequence[ScriptedResult] = (), behind: Simulator | None = None) -> None:
        self._results = tuple(results)
        self._behind = behind

    @contextmanager
    def world(self, example: JsonMapping) -> Iterator[World]:
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

    def state(self) -> JsonMapping | None:
        return self._behind.state()


def text_of(content: object) -> str:
    """Return a result as an agent reads it: text as it is, anything else as JSON."""
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


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
    """A world some of whose calls fail, whatever world stands behind it.

    A call that fails is not executed: the state stays as it was. Only `partial` executes it and cuts what comes back.
    """

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

    def state(self) -> JsonMapping | None:
        return self._world.state()


def _error(fault: Fault) -> str:
    words = fault.message or WORDS[fault.fault]
    after = "" if fault.retry_after is None else f" (Retry-After: {fault.retry_after:g})"
    return f"Error: {words}{after}"


def _cut(answer: ToolAnswer) -> ToolAnswer:
    return ToolAnswer(f"{answer.content[: len(answer.content) // 2]} [truncated]", answer.is_error, answer.latency_ms)
