"""Reproduces the deterministic part of ToolCorrectnessMetric of `deepeval` 4.3.1 (Apache-2.0), faults included.

Calls are told apart by value, so that two equal calls can meet only one of two equal expectations; the unordered score
is greedy in the order of the expected calls; extra calls cost nothing except under an exact match. The original also
takes the minimum with a model's opinion where available tools are given: that part is no rule and is not here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolevals.grading.dialects.plain_calls import PlainCall, ValidationError, hashable
from toolevals.json_types import JsonObject, JsonValue

_TYPES = frozenset({"FUNCTION", "MCP"})


@dataclass(frozen=True, slots=True)
class ToolCorrectness:
    """The metric's options. `input_parameters` and `output` are the two `evaluation_params`."""

    input_parameters: bool = False
    output: bool = False
    should_exact_match: bool = False
    should_consider_ordering: bool = False
    threshold: float = 0.5
    strict_mode: bool = False

    def score(self, expected: Sequence[PlainCall], actual: Sequence[PlainCall]) -> float:
        """Return the score of calls `{"name", "arguments", "output", "type"}`, all but the name optional.

        Raises ValidationError on a call of another form, and AttributeError as the original does where arguments are
        compared and only one side has any.
        """
        wanted, made = _tools(expected), _tools(actual)
        if self.should_exact_match:
            score = float(self._exact(wanted, made))
        elif self.should_consider_ordering:
            score = _share(self._ordered(wanted, made), wanted, made)
        else:
            score = _share(self._unordered(wanted, made), wanted, made)
        # The strict mode's threshold is 1, whatever was asked for.
        return 0.0 if self.strict_mode and score < 1 else score

    def passes(self, score: float) -> bool:
        """Tell whether a score reaches the threshold."""
        return score >= (1 if self.strict_mode else self.threshold)

    def _exact(self, expected: list[_Tool], actual: list[_Tool]) -> bool:
        return len(expected) == len(actual) and all(
            one.key == other.key
            and (not self.input_parameters or one.arguments == other.arguments)
            and (not self.output or one.output == other.output)
            for one, other in zip(expected, actual, strict=True)
        )

    def _credit(self, expected: _Tool, actual: _Tool) -> float:
        """Return how far two calls of one tool agree."""
        credit = _alike(expected.arguments, actual.arguments) if self.input_parameters else 1.0
        return 0.0 if self.output and expected.output != actual.output else credit

    def _unordered(self, expected_calls: list[_Tool], actual: list[_Tool]) -> float:
        total = 0.0
        forms = [call.form for call in actual]
        used: set[Any] = set()
        for expected in expected_calls:
            best, chosen = 0.0, None
            for call, form in zip(actual, forms, strict=True):
                if expected.key != call.key or form in used:
                    continue
                if (credit := self._credit(expected, call)) > best:
                    best, chosen = credit, form
            if chosen is not None:
                total += best
                used.add(chosen)
        return total

    def _ordered(self, expected_calls: list[_Tool], actual: list[_Tool]) -> float:
        """Return the weighted longest common subsequence, summed on the way back as the original does."""
        table = [[0.0] * (len(actual) + 1) for _ in range(len(expected_calls) + 1)]
        for row, expected in enumerate(expected_calls, start=1):
            for column, call in enumerate(actual, start=1):
                best = max(table[row - 1][column], table[row][column - 1])
                credit = self._credit(expected, call) if expected.key == call.key else 0.0
                table[row][column] = max(best, table[row - 1][column - 1] + credit) if credit > 0 else best
        total, row, column = 0.0, len(expected_calls), len(actual)
        while row and column:
            if table[row][column] == table[row - 1][column]:
                row -= 1
            elif table[row][column] == table[row][column - 1]:
                column -= 1
            else:
                total += table[row][column] - table[row - 1][column - 1]
                row, column = row - 1, column - 1
        return total


@dataclass(frozen=True, slots=True)
class _Tool:
    """One call as the original holds it."""

    key: tuple[str, str]
    arguments: JsonObject | None
    output: JsonValue

    @property
    def form(self) -> Any:
        """Return what is the same for calls that are equal by the original's `__eq__`, which leaves the type out."""
        return self.key[0], hashable(self.arguments), hashable(self.output)


def _tools(calls: Iterable[object]) -> list[_Tool]:
    return [_tool(call) for call in calls]


def _tool(call: object) -> _Tool:
    if not isinstance(call, Mapping) or not isinstance(name := call.get("name"), str):
        raise ValidationError("a call has no name")
    kind, arguments = call.get("type", "FUNCTION"), call.get("arguments")
    if not isinstance(kind, str) or kind not in _TYPES:
        raise ValidationError(f"{kind} is neither FUNCTION nor MCP")
    if not isinstance(arguments, dict | None):
        raise ValidationError("a call's arguments are not an object")
    return _Tool((name, kind), arguments, call.get("output"))


def _share(total: float, expected: list[_Tool], actual: list[_Tool]) -> float:
    if not expected:
        return 0.0 if actual else 1.0
    return total / len(expected)


def _alike(one: Any, other: JsonValue) -> float:
    """Return the matching keys' share of all keys, recursive on objects. Raises AttributeError where one is None."""
    if one == other:
        return 1.0
    keys = one.keys() | other.keys()
    total = 0.0
    # In the original's order of summation a set's order decides the last digit; ours is the first object's.
    for key in one:
        if key not in other:
            continue
        if one[key] == other[key]:
            total += 1 / len(keys)
        elif isinstance(one[key], dict) and isinstance(other[key], dict):
            total += _alike(one[key], other[key]) / len(keys)
    return total
