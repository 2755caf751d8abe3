"""Calls that were made just where they are expected: nothing has to be searched for.

What a label admits to the letter is written out and validated when it is compiled; such calls are only looked up. Of
the others, simple properties are not given to the validator (see `property_gates`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product
from typing import Any, TypeAlias

import orjson

from toolevals.grading.arguments import findings
from toolevals.grading.decisions import Decision, Findings, decision_of
from toolevals.grading.equality import Profile
from toolevals.grading.matchers import Exact, OneOf
from toolevals.grading.matching import (
    ALL_AS_EXPECTED,
    FOR_A_JUDGE,
    MISSHAPEN,
    WRONG,
    CompiledArgument,
    CompiledCall,
    Test,
)
from toolevals.grading.offer import Conforms, Offer
from toolevals.grading.property_gates import ASK, PropertyGate, ask, conform, property_gates
from toolevals.grading.trajectory import CompiledTrajectory
from toolevals.grading.values import Call, ToolCall

# How many ways to write a call are kept, and how long they may be together.
_MOST_WRITTEN = 16
_LONGEST_WRITTEN = 4_000
_OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
_LEFT_OUT = object()

# Of an argument: the texts that it admits where it admits texts alone, its test, its types, its gate, and 1 where it
# has to be there. A tuple, because each object that is looked at costs a miss of the processor's cache.
Look: TypeAlias = tuple["frozenset[str] | None", Test, Callable[[Any], bool], PropertyGate, int]


@dataclass(frozen=True, slots=True)
class Place:
    """One expected call, how its label names the tool, and the gate of its schema.

    `written` holds arguments that match and conform, as JSON text with sorted keys. `looks` holds the arguments that
    may be there, by name; `needed` counts those that have to be.
    """

    label: str
    written: frozenset[bytes]
    looks: Mapping[str, Look]
    needed: int
    text_form: Callable[[str], Any]
    call: CompiledCall
    conforms: Conforms | None

    @classmethod
    def of(cls, call: CompiledCall, offer: Offer) -> Place:
        """Return the place of one expected call."""
        conforms = offer.conforms(call.name)
        required = {name for name, argument in call.arguments.items() if argument.required}
        gates: Mapping[str, PropertyGate] = {}
        if conforms is not None:
            schema = offer.tools[call.name].input_schema
            gates = property_gates(schema)
            required.update(schema.get("required", ()))
        otherwise = conform if conforms is None else ask
        return cls(
            label=call.expectation.tool,
            written=frozenset(_written(call, conforms)),
            looks={
                name: (each.texts, each.test, each.fits, gates.get(name, otherwise), int(name in required))
                for name, each in call.arguments.items()
                if not each.forbidden
            },
            needed=len(required),
            text_form=offer.profile.text_form,
            call=call,
            conforms=conforms,
        )

    def look(self, arguments: Mapping[str, Any]) -> tuple[int, bool]:
        """Return how arguments stand to what is expected, and whether they break the schema."""
        looks, form = self.looks, self.text_form
        needed, worst, answers = self.needed, ALL_AS_EXPECTED, 0
        for name, value in arguments.items():
            if (look := looks.get(name)) is None:
                return self._look_long(arguments)
            texts, test, fits, gate, need = look
            needed -= need
            answers |= gate(value)
            if texts is not None and type(value) is str:
                passed: bool | None = value in texts or form(value) in texts
            else:
                passed = test(value)
            if not passed:
                standing = FOR_A_JUDGE if passed is None else WRONG if fits(value) else MISSHAPEN
                worst = max(worst, standing)
        if needed:
            return self._look_long(arguments)
        return worst, self._breaks(arguments) if answers >= ASK else bool(answers)

    def _look_long(self, arguments: Mapping[str, Any]) -> tuple[int, bool]:
        return self.call.standing(arguments), self._breaks(arguments)

    def _breaks(self, arguments: Mapping[str, Any]) -> bool:
        return self.conforms is not None and not self.conforms(arguments)


@dataclass(frozen=True, slots=True)
class InPlace:
    """The calls of the first alternative, each at its place; `rivals` are the other calls of a place's tool.

    `only` says that there is no other alternative, `checked` at how many places the schema is known.
    """

    places: tuple[Place, ...]
    all_right: Decision
    checked: int
    only: bool
    rivals: tuple[tuple[CompiledCall, ...], ...]
    profile: Profile

    @classmethod
    def of(cls, trajectories: Sequence[CompiledTrajectory], offer: Offer) -> InPlace | None:
        """Return the first alternative's calls; None where a call's place does not say enough."""
        if not trajectories or not trajectories[0].calls or trajectories[0].disallowed or trajectories[0].choices:
            return None
        calls = trajectories[0].calls
        if len(calls) > 1 and not offer.tools.keys() >= {call.name for call in calls}:
            # Several labels may have one form, and then the search says which call is which.
            return None
        places = tuple(Place.of(call, offer) for call in calls)
        by_tool: dict[str, list[CompiledCall]] = {}
        for call in calls:
            by_tool.setdefault(call.name, []).append(call)
        checked = sum(place.conforms is not None for place in places)
        return cls(
            places,
            decision_of(Findings("", checked, 0, len(calls), len(calls))),
            checked,
            len(trajectories) == 1,
            tuple(tuple(other for other in by_tool[call.name] if other is not call) for call in calls),
            offer.profile,
        )

    def decision(self, calls: Sequence[Call]) -> Decision | None:
        """Return what is decided of calls that stand in place; None where the best alignment has to be searched for."""
        places = self.places
        if len(calls) != len(places):
            return None
        doubtful: list[tuple[int, Mapping[str, Any]]] = []
        for number, call in enumerate(calls):
            place = places[number]
            if type(call) is not ToolCall:
                return None
            if call.name != place.label and self.profile.tool_name(call.name) != place.call.name:
                return None
            if not _is_written(call.arguments, place.written):
                doubtful.append((number, call.arguments))
        return self._looked_at(doubtful) if doubtful else self.all_right

    def _looked_at(self, doubtful: Sequence[tuple[int, Mapping[str, Any]]]) -> Decision | None:
        stands = []
        for number, arguments in doubtful:
            stand = self.places[number].look(arguments)
            if stand[0] and not (self.only and _is_everywhere(stand[0], arguments, self.rivals[number])):
                return None
            stands.append(stand)
        return _decision(len(self.places), self.checked, tuple(stands))


@lru_cache(maxsize=4096)
def _decision(total: int, checked: int, stands: tuple[tuple[int, bool], ...]) -> Decision:
    """Return what is decided of `total` calls of which these stand so, and all others as expected."""
    failing = sum([breaks for _, breaks in stands])
    right = [(ALL_AS_EXPECTED, False)] * (total - len(stands))
    return decision_of(findings("", total, [*stands, *right], checked, failing))


def _is_everywhere(standing: int, arguments: Mapping[str, Any], rivals: Sequence[CompiledCall]) -> bool:
    """Tell whether a call has the same fault whichever expected call of its tool it is put to.

    Where that holds of every faulty call, no assignment matches more than the calls that match in place, and all that
    match as many decide the same.
    """
    if not rivals:
        return True
    return standing > FOR_A_JUDGE and all(rival.standing(arguments) == standing for rival in rivals)


def _is_written(arguments: Mapping[str, Any], written: frozenset[bytes]) -> bool:
    try:
        return orjson.dumps(arguments, option=_OPTIONS) in written
    except TypeError:
        return False


def _written(call: CompiledCall, conforms: Conforms | None) -> Iterator[bytes]:
    """Yield ways to write arguments that match and conform."""
    left = _LONGEST_WRITTEN
    choices = [_choices(argument) for argument in call.arguments.values()]
    for values in islice(product(*choices), _MOST_WRITTEN):
        pairs = zip(call.arguments, values, strict=True)
        arguments = {name: value for name, value in pairs if value is not _LEFT_OUT}
        try:
            text = orjson.dumps(arguments, option=_OPTIONS)
            fits = not call.standing(arguments) and (conforms is None or conforms(arguments))
        except (TypeError, ValueError):
            # Too large for the one or the other.
            continue
        left -= len(text)
        if left < 0:
            return
        # NaN is written as null.
        if fits and b"null" not in text:
            yield text


def _choices(argument: CompiledArgument) -> list[Any]:
    """Return the values that an argument's matcher names, and the choice to leave it out."""
    matcher = argument.matcher
    named = [matcher.value] if isinstance(matcher, Exact) else matcher.values if isinstance(matcher, OneOf) else ()
    return [*named[:1], *([] if argument.required else [_LEFT_OUT]), *named[1:]]
