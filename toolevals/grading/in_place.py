"""Calls that were made just where they are expected: nothing has to be searched for.

Where all are exactly the values that the expectation names, and the tools' schemas are known to take those, they need
not be validated either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolevals.grading.arguments import findings
from toolevals.grading.decisions import Decision, Findings, decision_of
from toolevals.grading.matchers import Exact, OneOf
from toolevals.grading.matching import ALL_AS_EXPECTED, CompiledArgument, CompiledCall
from toolevals.grading.offer import Conforms, Offer
from toolevals.grading.trajectory import CompiledTrajectory
from toolevals.grading.values import Call, ToolCall, ToolSpec

# With these alone, an object conforms where it has what is required and each property conforms by itself.
_PROPERTY_BY_PROPERTY = frozenset(
    {"type", "properties", "required", "additionalProperties", "title", "description", "$defs", "definitions"}
)
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Nested:
    """Lists and objects to be found again exactly: of the same types throughout, 1 apart from 1.0 and from true."""

    values: tuple[Any, ...]

    def __contains__(self, value: Any) -> bool:
        return any(_is_same(value, each) for each in self.values)


# The values that an argument may have, by their Python type.
Values = Mapping[type, "frozenset[Any] | Nested"]


@dataclass(frozen=True, slots=True)
class Place:
    """One expected call, the gate of its schema, and the values that surely match and conform, by argument.

    `known` is None where no values are sure. With each argument goes whether it has to be there.
    """

    call: CompiledCall
    label: str
    conforms: Conforms | None
    known: tuple[tuple[str, Values, bool], ...] | None

    def is_sure(self, arguments: Mapping[str, Any]) -> bool:
        """Tell whether these arguments match and conform as they are expected to the letter."""
        if self.known is None:
            return False
        present = 0
        for name, values, required in self.known:
            value = arguments.get(name, _ABSENT)
            if value is _ABSENT:
                if required:
                    return False
            elif value in values.get(type(value), ()):
                present += 1
            else:
                return False
        return present == len(arguments)


@dataclass(frozen=True, slots=True)
class InPlace:
    """The calls of a trajectory, each at its place. `apart` says that no two are of one tool."""

    places: tuple[Place, ...]
    offer: Offer
    checked: int
    apart: bool
    all_right: Decision

    @classmethod
    def of(cls, trajectories: Sequence[CompiledTrajectory], offer: Offer) -> InPlace | None:
        """Return the first alternative's calls; None where a call's place does not say enough."""
        if not trajectories or not trajectories[0].calls or trajectories[0].disallowed or trajectories[0].choices:
            return None
        places = tuple(_place(call, offer) for call in trajectories[0].calls)
        names = {place.call.name for place in places}
        if not (names <= offer.tools.keys() or len(places) == 1):
            # Several labels may have one form, and then the search says which call is which.
            return None
        checked = sum(place.conforms is not None for place in places)
        return cls(
            places,
            offer,
            checked,
            len(trajectories) == 1 and len(names) == len(places),
            decision_of(Findings("", checked, 0, len(places), len(places))),
        )

    def decision(self, calls: Sequence[Call]) -> Decision | None:
        """Return what is decided of calls that stand in place; None where the best alignment has to be searched for."""
        places = self.places
        if len(calls) != len(places):
            return None
        doubtful: list[tuple[Place, dict[str, Any]]] = []
        for place, call in zip(places, calls, strict=True):
            if type(call) is not ToolCall:
                return None
            if call.name != place.label and self.offer.profile.tool_name(call.name) != place.call.name:
                return None
            if not place.is_sure(call.arguments):
                doubtful.append((place, call.arguments))
        return self._looked_at(doubtful) if doubtful else self.all_right

    def _looked_at(self, doubtful: Sequence[tuple[Place, dict[str, Any]]]) -> Decision | None:
        standings = [(place.call.standing(arguments), place, arguments) for place, arguments in doubtful]
        if not self.apart and any(standing for standing, _, _ in standings):
            return None
        stands = [
            (standing, place.conforms is not None and not place.conforms(arguments))
            for standing, place, arguments in standings
        ]
        sure = len(self.places) - len(stands)
        failing = sum(breaks for _, breaks in stands)
        stands += [(ALL_AS_EXPECTED, False)] * sure
        return decision_of(findings("", len(self.places), stands, self.checked, failing))


def _place(call: CompiledCall, offer: Offer) -> Place:
    conforms = offer.conforms(call.name)
    known = _known(call.arguments, offer.tools.get(call.name), conforms)
    return Place(call, call.expectation.tool, conforms, known)


def _known(
    arguments: Mapping[str, CompiledArgument], tool: ToolSpec | None, conforms: Conforms | None
) -> tuple[tuple[str, Values, bool], ...] | None:
    named = {name: _named(argument) for name, argument in arguments.items()}
    if not all(named.values()):
        return None
    required: Iterable[Any] = ()
    if conforms is not None and tool is not None:
        base = {name: values[0] for name, values in named.items()}
        if not (_PROPERTY_BY_PROPERTY.issuperset(tool.input_schema) and conforms(base)):
            return None
        required = tool.input_schema.get("required", ())
        named = {name: [value for value in values if conforms({**base, name: value})] for name, values in named.items()}
    return tuple(
        (name, _by_type(named[name]), argument.required or name in required) for name, argument in arguments.items()
    )


def _named(argument: CompiledArgument) -> list[Any]:
    """Return the values that an argument's matcher names and admits."""
    matcher = argument.matcher
    values = (matcher.value,) if isinstance(matcher, Exact) else matcher.values if isinstance(matcher, OneOf) else ()
    return [value for value in values if argument.test(value)]


def _by_type(values: Iterable[Any]) -> Values:
    groups: dict[type, list[Any]] = {}
    for value in values:
        groups.setdefault(type(value), []).append(value)
    return {
        kind: Nested(tuple(group)) if kind in (list, dict, tuple) else frozenset(group)
        for kind, group in groups.items()
    }


def _is_same(left: Any, right: Any) -> bool:
    if type(left) is not type(right):
        return False
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(_is_same, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_is_same(value, right[name]) for name, value in left.items())
    return bool(left == right)
