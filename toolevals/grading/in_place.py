"""Calls that were made just where they are expected: nothing has to be searched for.

What a label admits to the letter is written out and validated when it is compiled; such calls are only looked up. Of
the others, simple properties are not given to the validator (see `property_gates`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product
from typing import Any, TypeAlias

from orjson import OPT_PASSTHROUGH_DATACLASS, OPT_PASSTHROUGH_DATETIME, OPT_SORT_KEYS, dumps

from toolevals.grading.arguments import findings
from toolevals.grading.decisions import Decision, Findings, decision_of
from toolevals.grading.equality import Profile
from toolevals.grading.matchers import Exact, OneOf
from toolevals.grading.matching import CompiledArgument, CompiledCall, Test
from toolevals.grading.offer import Conforms, Offer
from toolevals.grading.property_gates import ASK, CONFORMS, TEXT, PropertyGate, ask, conform, property_gates
from toolevals.grading.scalars import Admitted
from toolevals.grading.standings import ALL_AS_EXPECTED, FOR_A_JUDGE, MISSHAPEN, WRONG
from toolevals.grading.trajectory import CompiledTrajectory
from toolevals.grading.values import Call, ToolCall

# How many ways to write a call are kept, and how long they may be together.
_MOST_WRITTEN = 16
_LONGEST_WRITTEN = 4_000
_OPTIONS = OPT_SORT_KEYS | OPT_PASSTHROUGH_DATACLASS | OPT_PASSTHROUGH_DATETIME
_LEFT_OUT = object()

# Of an argument: the types and values of the scalars that it admits, its test and its types for all other values, its
# gate, and 1 where it has to be there. A tuple, because each object that is looked at costs a miss of the cache.
Look: TypeAlias = tuple[frozenset[type], frozenset[Any], Test, Callable[[Any], bool], PropertyGate, int]


@dataclass(frozen=True, slots=True)
class Place:
    """One expected call and the gate of its schema.

    `looks` holds the arguments that may be there, by name; `needed` counts those that have to be. `doubt` is what is to
    be said of the schema before any argument is looked at: ASK where the arguments' gates are not all there is to it.
    """

    looks: Mapping[str, Look]
    needed: int
    doubt: int
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
        looks = {
            name: (
                *each.admitted,
                each.test,
                each.fits,
                gates.get(name, otherwise),
                int(name in required),
            )
            for name, each in call.arguments.items()
            if not each.forbidden
        }
        doubt = CONFORMS if conforms is None or gates else ASK
        return cls(looks, len(required), doubt, offer.profile.text_form, call, conforms)

    def look(self, arguments: Mapping[str, Any]) -> tuple[int, bool]:
        """Return how arguments stand to what is expected, and whether they break the schema."""
        look_of, form = self.looks.get, self.text_form
        needed, worst, answers = self.needed, ALL_AS_EXPECTED, self.doubt
        for name, value in arguments.items():
            if (look := look_of(name)) is None:
                return self._look_long(arguments)
            kinds, admitted, test, fits, gate, need = look
            needed -= need
            kind = type(value)
            if kind in kinds:
                if value not in admitted and (kind is not str or form(value) not in admitted) and worst < WRONG:
                    worst = WRONG
            elif not (passed := test(value)):
                worst = max(worst, FOR_A_JUDGE if passed is None else WRONG if fits(value) else MISSHAPEN)
            if gate is not TEXT or kind is not str or not value.isascii():
                answers |= gate(value)
        if needed:
            return self._look_long(arguments)
        return worst, self._breaks(arguments) if answers >= ASK else bool(answers)

    def _look_long(self, arguments: Mapping[str, Any]) -> tuple[int, bool]:
        return self.call.standing(arguments), self._breaks(arguments)

    def _breaks(self, arguments: Mapping[str, Any]) -> bool:
        return self.conforms is not None and not self.conforms(arguments)


@dataclass(frozen=True, slots=True)
class Common:
    """Expected calls of one tool that ask for the same arguments of the same types; `admitted` by any of them."""

    admitted: Mapping[str, Admitted]
    text_form: Callable[[str], Any]

    def is_wrong(self, arguments: Mapping[str, Any]) -> bool:
        """Tell whether arguments that are wrong at one of the calls surely are at all, and nothing worse at any."""
        form, found = self.text_form, False
        for name, value in arguments.items():
            kinds, admitted = self.admitted[name]
            kind = type(value)
            if kind not in kinds:
                return False
            found = found or (value not in admitted and (kind is not str or form(value) not in admitted))
        return found


@dataclass(frozen=True, slots=True)
class InPlace:
    """The calls of the first alternative, each at its place; `rivals` are the other calls of a place's tool.

    `common` holds what a place and its rivals have in common.
    `written` holds calls that match and conform, place by place, as JSON text of name and arguments with sorted keys.
    `only` says that there is no other alternative, `checked` at how many places the schema is known.
    """

    written: tuple[Collection[bytes], ...]
    all_right: Decision
    places: tuple[Place, ...]
    checked: int
    only: bool
    rivals: tuple[tuple[CompiledCall, ...], ...]
    common: tuple[Common | None, ...]
    profile: Profile

    @classmethod
    def of(cls, trajectories: Sequence[CompiledTrajectory], offer: Offer) -> InPlace | None:
        """Return the first alternative's calls; None where a call's place does not say enough."""
        if not trajectories or not trajectories[0].calls or trajectories[0].disallowed or trajectories[0].choices:
            return None
        if any(each.referred for each in trajectories):
            return None
        calls = trajectories[0].calls
        if len(calls) > 1 and not offer.tools.keys() >= {call.name for call in calls}:
            # Several labels may have one form, and then the search says which call is which.
            return None
        places = tuple(Place.of(call, offer) for call in calls)
        by_tool: dict[str, list[CompiledCall]] = {}
        for call in calls:
            by_tool.setdefault(call.name, []).append(call)
        common = {name: _common(group, offer.profile) for name, group in by_tool.items()}
        checked = sum(place.conforms is not None for place in places)
        return cls(
            tuple(_collected(_written(place, offer)) for place in places),
            decision_of(Findings("", checked, 0, len(calls), len(calls))),
            places,
            checked,
            len(trajectories) == 1,
            tuple(tuple(other for other in by_tool[call.name] if other is not call) for call in calls),
            tuple(common[call.name] for call in calls),
            offer.profile,
        )

    def decision(self, calls: Sequence[Call]) -> Decision | None:
        """Return what is decided of calls that stand in place; None where the best alignment has to be searched for."""
        written = self.written
        if len(calls) != len(written):
            return None
        doubtful: list[tuple[int, Mapping[str, Any]]] = []
        for number, call in enumerate(calls):
            if type(call) is not ToolCall:
                return None
            try:
                if dumps((call.name, call.arguments), option=_OPTIONS) in written[number]:
                    continue
            except TypeError:
                # What orjson does not write, such as a large integer.
                pass
            if self.profile.tool_name(call.name) != self.places[number].call.name:
                return None
            doubtful.append((number, call.arguments))
        return self._looked_at(doubtful) if doubtful else self.all_right

    def _looked_at(self, doubtful: Sequence[tuple[int, Mapping[str, Any]]]) -> Decision | None:
        stands = []
        for number, arguments in doubtful:
            stand = self.places[number].look(arguments)
            if stand[0] and not (self.only and self._is_everywhere(stand[0], arguments, number)):
                return None
            stands.append(stand)
        return _decision(len(self.places), self.checked, tuple(stands))

    def _is_everywhere(self, standing: int, arguments: Mapping[str, Any], number: int) -> bool:
        """Tell whether a call has the same fault whichever expected call of its tool it is put to.

        Where that holds of every faulty call, no assignment matches more than the calls that match in place, and all
        that match as many decide the same.
        """
        if not (rivals := self.rivals[number]):
            return True
        common = self.common[number]
        if standing == WRONG and common is not None and common.is_wrong(arguments):
            return True
        return standing > FOR_A_JUDGE and all(rival.standing(arguments) == standing for rival in rivals)


@lru_cache(maxsize=4096)
def _decision(total: int, checked: int, stands: tuple[tuple[int, bool], ...]) -> Decision:
    """Return what is decided of `total` calls of which these stand so, and all others as expected."""
    failing = sum([breaks for _, breaks in stands])
    right = [(ALL_AS_EXPECTED, False)] * (total - len(stands))
    return decision_of(findings("", total, [*stands, *right], checked, failing))


def _written(place: Place, offer: Offer) -> Iterator[bytes]:
    """Yield ways to write the call so that it matches and conforms, under its label's name and the tool's."""
    call, left = place.call, _LONGEST_WRITTEN
    tool = offer.tools.get(call.name)
    names = dict.fromkeys((call.expectation.tool, call.name, tool.name if tool else call.name))
    choices = [_choices(argument) for argument in call.arguments.values()]
    for values in islice(product(*choices), _MOST_WRITTEN):
        pairs = zip(call.arguments, values, strict=True)
        arguments = {name: value for name, value in pairs if value is not _LEFT_OUT}
        try:
            texts = [dumps((name, arguments), option=_OPTIONS) for name in names]
            fits = place.look(arguments) == (ALL_AS_EXPECTED, False)
        except (TypeError, ValueError):
            # Too large for the one or the other.
            continue
        left -= sum(map(len, texts))
        if left < 0:
            return
        # NaN is written as null.
        if fits and b"null" not in texts[0]:
            # As they come they stand in buffers several times as large.
            yield from [bytes(memoryview(text)) for text in texts]


def _common(calls: Sequence[CompiledCall], profile: Profile) -> Common | None:
    """Return what calls of one tool have in common; None where they ask for different arguments, or for free ones."""
    first = calls[0]
    shapes = [{name: (each.required, each.fits) for name, each in call.arguments.items()} for call in calls]
    if len(calls) < 2 or any(shape != shapes[0] for shape in shapes):
        return None
    if any(call.expectation.additional_arguments for call in calls):
        return None
    admitted = {}
    for name in first.arguments:
        scalars = [call.arguments[name].admitted for call in calls]
        same = all(kinds == scalars[0][0] for kinds, _ in scalars)
        admitted[name] = (scalars[0][0] if same else frozenset(), frozenset().union(*(values for _, values in scalars)))
    return Common(admitted, profile.text_form)


def _collected(texts: Iterable[bytes]) -> Collection[bytes]:
    # A few are compared sooner than looked up.
    found = tuple(texts)
    return found if len(found) < 3 else frozenset(found)


def _choices(argument: CompiledArgument) -> list[Any]:
    """Return the values that an argument's matcher names, and the choice to leave it out."""
    matcher = argument.matcher
    named = [matcher.value] if isinstance(matcher, Exact) else matcher.values if isinstance(matcher, OneOf) else ()
    return [*named[:1], *([] if argument.required else [_LEFT_OUT]), *named[1:]]
