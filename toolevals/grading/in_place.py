"""Calls that were made just where they are expected: nothing has to be searched for.

Where all are exactly the values that the expectation names, and the tools' schemas are known to take those, they need
not be validated either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolevals.grading.arguments import findings
from toolevals.grading.decisions import Decision, Findings, decision_of
from toolevals.grading.matchers import Exact, OneOf
from toolevals.grading.matching import ALL_AS_EXPECTED, FOR_A_JUDGE, CompiledArgument, CompiledCall
from toolevals.grading.offer import Conforms, Offer
from toolevals.grading.trajectory import CompiledTrajectory
from toolevals.grading.values import Call, ToolCall, ToolSpec

# With these alone, an object conforms where it has what is required and each property conforms by itself.
_PROPERTY_BY_PROPERTY = frozenset(
    {"type", "properties", "required", "additionalProperties", "title", "description", "$defs", "definitions"}
)
_SCALARS = frozenset({int, float, bool, type(None)})


@dataclass(frozen=True, slots=True)
class Sure:
    """The arguments that surely match and conform, when each is one of these to the letter.

    `texts` are pairs of name and text, `scalars` triples with the type too, so that 1 is not 1.0 nor true; `nested`
    are lists and objects. `required` have to be there. Few and small, because each look costs a miss of the cache.
    """

    texts: frozenset[tuple[str, str]]
    scalars: frozenset[tuple[str, type, Any]]
    nested: tuple[tuple[str, Any], ...]
    required: frozenset[str]

    def admits(self, arguments: Mapping[str, Any]) -> bool:
        """Tell whether these arguments are such."""
        for name, value in arguments.items():
            kind = type(value)
            if kind is str:
                if (name, value) not in self.texts:
                    return False
            elif kind in _SCALARS:
                if (name, kind, value) not in self.scalars:
                    return False
            elif not any(name == known and _is_same(value, each) for known, each in self.nested):
                return False
        return self.required <= arguments.keys()


@dataclass(frozen=True, slots=True)
class Place:
    """One expected call, how its label names the tool, the gate of its schema, and its sure arguments if it has any."""

    call: CompiledCall
    label: str
    conforms: Conforms | None
    sure: Sure | None


@dataclass(frozen=True, slots=True)
class InPlace:
    """The calls of the first alternative, each at its place; `rivals` are the other calls of a place's tool.

    `only` says that there is no other alternative, `checked` at how many places the schema is known.
    """

    places: tuple[Place, ...]
    rivals: tuple[tuple[CompiledCall, ...], ...]
    offer: Offer
    only: bool
    checked: int
    all_right: Decision

    @classmethod
    def of(cls, trajectories: Sequence[CompiledTrajectory], offer: Offer) -> InPlace | None:
        """Return the first alternative's calls; None where a call's place does not say enough."""
        if not trajectories or not trajectories[0].calls or trajectories[0].disallowed or trajectories[0].choices:
            return None
        calls = trajectories[0].calls
        if len(calls) > 1 and not offer.tools.keys() >= {call.name for call in calls}:
            # Several labels may have one form, and then the search says which call is which.
            return None
        places = tuple(_place(call, offer) for call in calls)
        by_tool: dict[str, list[CompiledCall]] = {}
        for call in calls:
            by_tool.setdefault(call.name, []).append(call)
        checked = sum(place.conforms is not None for place in places)
        return cls(
            places,
            tuple(tuple(other for other in by_tool[call.name] if other is not call) for call in calls),
            offer,
            len(trajectories) == 1,
            checked,
            decision_of(Findings("", checked, 0, len(calls), len(calls))),
        )

    def decision(self, calls: Sequence[Call]) -> Decision | None:
        """Return what is decided of calls that stand in place; None where the best alignment has to be searched for."""
        places = self.places
        if len(calls) != len(places):
            return None
        doubtful: list[tuple[int, dict[str, Any]]] = []
        for number, call in enumerate(calls):
            place = places[number]
            if type(call) is not ToolCall:
                return None
            if call.name != place.label and self.offer.profile.tool_name(call.name) != place.call.name:
                return None
            if place.sure is None or not place.sure.admits(call.arguments):
                doubtful.append((number, call.arguments))
        return self._looked_at(doubtful) if doubtful else self.all_right

    def _looked_at(self, doubtful: Sequence[tuple[int, dict[str, Any]]]) -> Decision | None:
        stands = []
        for number, arguments in doubtful:
            place, rivals = self.places[number], self.rivals[number]
            standing = place.call.standing(arguments)
            if standing and not (self.only and _is_everywhere(standing, arguments, rivals)):
                return None
            stands.append((standing, place.conforms is not None and not place.conforms(arguments)))
        failing = sum([breaks for _, breaks in stands])
        stands += [(ALL_AS_EXPECTED, False)] * (len(self.places) - len(stands))
        return decision_of(findings("", len(self.places), stands, self.checked, failing))


def _is_everywhere(standing: int, arguments: Mapping[str, Any], rivals: Sequence[CompiledCall]) -> bool:
    """Tell whether a call has the same fault whichever expected call of its tool it is put to.

    Where that holds of every faulty call, no assignment matches more than the calls that match in place, and all that
    match as many decide the same.
    """
    if not rivals:
        return True
    return standing > FOR_A_JUDGE and all(rival.standing(arguments) == standing for rival in rivals)


def _place(call: CompiledCall, offer: Offer) -> Place:
    conforms = offer.conforms(call.name)
    return Place(call, call.expectation.tool, conforms, _sure(call.arguments, offer.tools.get(call.name), conforms))


def _sure(arguments: Mapping[str, CompiledArgument], tool: ToolSpec | None, conforms: Conforms | None) -> Sure | None:
    named = {name: _named(argument) for name, argument in arguments.items()}
    required = {name for name, argument in arguments.items() if argument.required}
    if conforms is not None and tool is not None:
        required.update(tool.input_schema.get("required", ()))
        # Beside what conforms, a value conforms where its own property does.
        base = {name: named[name][0] for name in required if named.get(name)}
        if not (_PROPERTY_BY_PROPERTY.issuperset(tool.input_schema) and conforms(base)):
            return None
        named = {name: [value for value in values if conforms({**base, name: value})] for name, values in named.items()}
    if not all(named.get(name) for name in required):
        return None
    pairs = [(name, value) for name, values in named.items() for value in values]
    return Sure(
        frozenset(pair for pair in pairs if type(pair[1]) is str),
        frozenset((name, type(value), value) for name, value in pairs if type(value) in _SCALARS),
        tuple(pair for pair in pairs if isinstance(pair[1], list | dict)),
        frozenset(required),
    )


def _named(argument: CompiledArgument) -> list[Any]:
    """Return the values that an argument's matcher names and admits."""
    matcher = argument.matcher
    values = (matcher.value,) if isinstance(matcher, Exact) else matcher.values if isinstance(matcher, OneOf) else ()
    return [value for value in values if argument.test(value)]


def _is_same(left: Any, right: Any) -> bool:
    if type(left) is not type(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(_is_same, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_is_same(value, right[name]) for name, value in left.items())
    return bool(left == right)
