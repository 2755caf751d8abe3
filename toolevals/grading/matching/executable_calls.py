"""Finds the calls that an expectation asks for exactly: they can be executed in place of an agent's.

Where it admits several values, nothing says what the world should be like after a call with any one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolevals.grading.values import Expectation, ToolCall, Trajectory
from toolevals.grading.values.expectations import options_of
from toolevals.grading.values.matchers import Absent, Exact, Fields, Items, Matcher, OneOf, ResultOf


class InexactError(ValueError):
    """An expectation that leaves open which calls are made; the text is a clause that says where."""


def exact_calls(expectation: Expectation) -> tuple[tuple[ToolCall, ...], ...]:
    """Return the calls of each alternative: a trajectory's ordered ones, then the others, as written.

    No call is one alternative without calls. Arguments without a matcher are left out. Raises InexactError where any
    call will do, and where a matcher of any alternative admits more than one value.
    """
    if expectation.kind == "some_call":
        raise InexactError("any call will do")
    if expectation.kind == "no_call":
        return ((),)
    return tuple(tuple(_calls(trajectory)) for trajectory in expectation.alternatives)


def _calls(trajectory: Trajectory) -> Iterator[ToolCall]:
    for number, expected in enumerate(trajectory.expected, 1):
        options = options_of(expected)
        if len(options) != 1:
            raise InexactError(f"one of several calls will do as call {number}")
        yield ToolCall(options[0].tool, _members(options[0].arguments, options[0].tool), f"gold-{number}")


def _members(matchers: Mapping[str, Matcher], where: str) -> dict[str, Any]:
    return {
        name: _value(matcher, f"{where}.{name}")
        for name, matcher in matchers.items()
        if not isinstance(matcher, Absent)
    }


def _value(matcher: Matcher, where: str) -> Any:
    if matcher.optional:
        raise InexactError(f"{where} may be left out")
    if isinstance(matcher, Exact):
        return matcher.value
    if isinstance(matcher, OneOf) and len(matcher.values) == 1:
        return matcher.values[0]
    if isinstance(matcher, Fields) and not matcher.additional_fields:
        return _members(matcher.fields, where)
    if isinstance(matcher, Items):
        return [_value(item, f"{where}/{place}") for place, item in enumerate(matcher.items)]
    if isinstance(matcher, ResultOf):
        raise InexactError(f"{where} is what call {matcher.call} results in")
    raise InexactError(f"{where} may have several values")
