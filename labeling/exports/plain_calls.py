"""Write expectations as plain calls with values, for formats that know nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from labeling.exports.selection import Inexpressible
from toolevals.grading.values import AnyOrder, CallExpectation, Expectation, OneOfCalls, Trajectory
from toolevals.grading.values.matchers import Absent, Approximately, DateEqual, Exact, Fields, Items, Matcher, OneOf
from toolevals.json_types import JsonObject

ONE_OF_SEVERAL = "one accepted answer of several was written"
OPTIONAL_LEFT_OUT = "arguments that may be left out were left out"


@dataclass(slots=True)
class PlainCall:
    """A tool's name and the values of its arguments."""

    tool: str
    arguments: JsonObject


def one_step(expectation: Expectation) -> tuple[list[PlainCall], set[str]]:
    """Return the calls of one assistant's message that meets an expectation of calls, and what was lost in choosing.

    Raises Inexpressible where several messages are needed, or no values are known.
    """
    lost: set[str] = set()
    if len(expectation.alternatives) > 1:
        lost.add(ONE_OF_SEVERAL)
    trajectory = expectation.alternatives[0]
    chosen = [_chosen(call, lost) for call in _of_one_message(trajectory)]
    return [PlainCall(call.tool, _values(call, lost)) for call in chosen], lost


def exact_call(expectation: Expectation) -> PlainCall | None:
    """Return the call of the plain form, of which the expectation says no more; None where it says more."""
    if expectation.kind != "calls" or len(expectation.alternatives) != 1:
        return None
    trajectory = expectation.alternatives[0]
    expected = trajectory.expected
    if len(expected) != 1 or trajectory.disallowed or not isinstance(call := expected[0], CallExpectation):
        return None
    fixed = {name: each for name, each in call.arguments.items() if isinstance(each, Exact) and not each.optional}
    values = {name: each.value for name, each in fixed.items()}
    return PlainCall(call.tool, values) if len(values) == len(call.arguments) else None


def _of_one_message(trajectory: Trajectory) -> tuple[CallExpectation | OneOfCalls, ...]:
    if len(trajectory.ordered) + bool(trajectory.unordered) > 1:
        raise Inexpressible("the calls come one after another: one message cannot hold them")
    first = trajectory.ordered[0] if trajectory.ordered else None
    calls = first.calls if isinstance(first, AnyOrder) else (first,) if first else trajectory.unordered
    if not calls:
        raise Inexpressible("no call is named: any may come")
    return calls


def _chosen(call: CallExpectation | OneOfCalls, lost: set[str]) -> CallExpectation:
    if isinstance(call, OneOfCalls):
        lost.add(ONE_OF_SEVERAL)
        return call.options[0]
    return call


def _values(call: CallExpectation, lost: set[str]) -> JsonObject:
    values = {}
    for name, matcher in call.arguments.items():
        if isinstance(matcher, Absent):
            continue
        if matcher.optional:
            lost.add(OPTIONAL_LEFT_OUT)
        else:
            values[name] = value_of(matcher, lost)
    return values


def value_of(matcher: Matcher, lost: set[str]) -> Any:
    """Return a value that a matcher admits. Raises Inexpressible where none is known."""
    if isinstance(matcher, Exact):
        return matcher.value
    if isinstance(matcher, OneOf):
        lost.add(ONE_OF_SEVERAL)
        return matcher.values[0]
    if isinstance(matcher, Fields):
        return {
            name: value_of(each, lost)
            for name, each in matcher.fields.items()
            if not each.optional and not isinstance(each, Absent)
        }
    if isinstance(matcher, Items):
        return [value_of(each, lost) for each in matcher.items]
    if isinstance(matcher, Approximately):
        lost.add(ONE_OF_SEVERAL)
        return matcher.value
    if isinstance(matcher, DateEqual):
        lost.add(ONE_OF_SEVERAL)
        return matcher.date
    raise Inexpressible(f"an argument is described by {matcher.kind}: no value is known")
