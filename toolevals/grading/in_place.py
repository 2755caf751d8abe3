"""Calls that were made just where they are expected: nothing has to be searched for.

Most labels name plain values. These are compared as they stand in the label, and an argument becomes a test only where
its matcher, or the value that came, asks for more. Simple properties are not given to the validator (see
`property_gates`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from orjson import OPT_PASSTHROUGH_DATACLASS, OPT_PASSTHROUGH_DATETIME, OPT_SORT_KEYS, dumps

from toolevals.grading.arguments import findings
from toolevals.grading.decisions import Decision, decision_of
from toolevals.grading.equality import Profile
from toolevals.grading.matchers import Absent, Exact, Matcher, OneOf
from toolevals.grading.matching import CompiledCall, compile_call
from toolevals.grading.offer import Offer
from toolevals.grading.property_gates import ASK, TEXT
from toolevals.grading.scalars import Admitted
from toolevals.grading.schema_gates import SchemaGate
from toolevals.grading.standings import ALL_AS_EXPECTED, FOR_A_JUDGE, WRONG
from toolevals.grading.values import Call, CallExpectation, Expectation, ToolCall

_OPTIONS = OPT_SORT_KEYS | OPT_PASSTHROUGH_DATACLASS | OPT_PASSTHROUGH_DATETIME
# Two values of one of these types are equal, or wrong and nothing worse: unless text may be a number.
_PLAIN: frozenset[type] = frozenset({str, int, float, bool, type(None)})
_NOTHING_PLAIN = frozenset[type]()
# How many ways in which a call came that was right are kept, and how long they may be.
_MOST_SEEN = 8
_LONGEST_SEEN = 1_000
# How a call stands that is as expected and keeps its schema.
_RIGHT = (ALL_AS_EXPECTED, False)


class Place:
    """One expected call and the gate of its schema. `name` is the form of its tool's name under the profile."""

    __slots__ = ("_call", "_seen", "expectation", "gate", "name", "profile")

    _call: CompiledCall

    def __init__(self, expectation: CallExpectation, name: str, gate: SchemaGate, profile: Profile) -> None:
        self.expectation = expectation
        self.name = name
        self.gate = gate
        self.profile = profile
        # Arguments that were right, as JSON text; None as long as none came.
        self._seen: tuple[bytes, ...] | None = None

    @property
    def call(self) -> CompiledCall:
        """The expected call as tests, which are made when they are first wanted."""
        try:
            return self._call
        except AttributeError:
            self._call = compile_call(self.expectation, self.profile)
            return self._call

    def is_for(self, name: str) -> bool:
        """Tell whether a call of this name is one of the expected tool."""
        return name == self.expectation.tool or self.profile.tool_name(name) == self.name

    def stand(self, actual: Mapping[str, Any]) -> tuple[int, bool]:
        """Return what `look` does, of arguments that were right twice without looking."""
        if self._seen and _text(actual) in self._seen:
            return _RIGHT
        found = self.look(actual)
        if found == _RIGHT:
            self._note_right(actual)
        return found

    def _note_right(self, actual: Mapping[str, Any]) -> None:
        if self._seen is None:
            # Most examples are tried once: writing arguments down pays from the third time on.
            self._seen = ()
        elif len(self._seen) < _MOST_SEEN and 0 < len(text := _text(actual)) < _LONGEST_SEEN:
            self._seen = (*self._seen, text)

    def look(self, actual: Mapping[str, Any]) -> tuple[int, bool]:
        """Return how arguments stand to what is expected, and whether they break the schema."""
        gate, profile = self.gate, self.profile
        plain, form = _NOTHING_PLAIN if profile.name == "loose" else _PLAIN, profile.text_form
        gates, otherwise, answers = gate.properties, gate.otherwise, gate.doubt
        worst, present = ALL_AS_EXPECTED, 0
        for name, matcher in self.expectation.arguments.items():
            if name not in actual:
                if matcher.optional or type(matcher) is Absent:
                    continue
                return self._look_long(actual)
            present += 1
            value = actual[name]
            kind = type(value)
            if type(matcher) is Exact and type(wanted := matcher.value) is kind and kind in plain:
                if worst < WRONG and value != wanted and (kind is not str or form(value) != form(wanted)):
                    worst = WRONG
            elif type(matcher) is not OneOf or kind is not str or value not in matcher.values:
                worst = max(worst, self._standing(name, matcher, value))
            property_gate = gates.get(name, otherwise)
            if property_gate is not TEXT or kind is not str or not value.isascii():
                answers |= property_gate(value)
        if present < len(actual) or not actual.keys() >= gate.required:
            return self._look_long(actual)
        return worst, gate.breaks(actual) if answers >= ASK else bool(answers)

    def _look_long(self, actual: Mapping[str, Any]) -> tuple[int, bool]:
        return self.call.standing(actual), self.gate.breaks(actual)

    def _standing(self, name: str, matcher: Matcher, value: Any) -> int:
        if type(matcher) is Exact and _are_alike(value, matcher.value):
            return ALL_AS_EXPECTED
        return self.call.arguments[name].standing(value)


@dataclass(frozen=True, slots=True)
class Common:
    """Expected calls of one tool that ask for the same arguments of the same types; `admitted` by any of them."""

    admitted: Mapping[str, Admitted]
    profile: Profile

    @classmethod
    def of(cls, calls: Sequence[CompiledCall], profile: Profile) -> Common | None:
        """Return what calls of one tool have in common; None where they ask for different arguments, or free ones."""
        first = calls[0]
        shapes = [{name: (each.required, each.fits) for name, each in call.arguments.items()} for call in calls]
        if any(shape != shapes[0] for shape in shapes):
            return None
        if any(call.expectation.additional_arguments for call in calls):
            return None
        admitted = {}
        for name in first.arguments:
            scalars = [call.arguments[name].admitted for call in calls]
            same = all(kinds == scalars[0][0] for kinds, _ in scalars)
            kinds = scalars[0][0] if same else frozenset()
            admitted[name] = (kinds, frozenset().union(*(values for _, values in scalars)))
        return cls(admitted, profile)

    def is_wrong(self, arguments: Mapping[str, Any]) -> bool:
        """Tell whether arguments that are wrong at one of the calls surely are at all, and nothing worse at any."""
        form, found = self.profile.text_form, False
        for name, value in arguments.items():
            kinds, admitted = self.admitted[name]
            kind = type(value)
            if kind not in kinds:
                return False
            found = found or (value not in admitted and (kind is not str or form(value) not in admitted))
        return found


class InPlace:
    """The calls of the first alternative, each at its place.

    `only` says that there is no other alternative, `checked` at how many places the schema is known.
    """

    __slots__ = ("_common", "checked", "only", "places")

    def __init__(self, places: tuple[Place, ...], only: bool) -> None:
        self.places = places
        self.checked = sum([place.gate.is_known for place in places])
        self.only = only
        # What the places of a tool have in common, by its name: worked out when it is first asked for.
        self._common: dict[str, Common | None] = {}

    @classmethod
    def of(cls, expectation: Expectation, offer: Offer) -> InPlace | None:
        """Return the first alternative's calls; None where a call's place does not say enough."""
        if not expectation.alternatives:
            return None
        first, profile = expectation.alternatives[0], offer.profile
        places: list[Place] = []
        for each in first.expected:
            if type(each) is not CallExpectation:
                return None
            name = profile.tool_name(each.tool)
            places.append(Place(each, name, offer.schema_gate(name), profile))
        if not places or first.disallowed:
            return None
        if len(places) > 1 and not offer.tools.keys() >= {place.name for place in places}:
            # Several labels may have one form, and then the search says which call is which.
            return None
        return cls(tuple(places), len(expectation.alternatives) == 1)

    def decision(self, calls: Sequence[Call]) -> Decision | None:
        """Return what is decided of calls that stand in place; None where the best alignment has to be searched for."""
        places = self.places
        if len(calls) != len(places):
            return None
        faulty = []
        for place, call in zip(places, calls, strict=True):
            if type(call) is not ToolCall or not place.is_for(call.name):
                return None
            stand = place.stand(call.arguments)
            if stand != _RIGHT:
                if stand[0] and not (self.only and self._is_everywhere(stand[0], call.arguments, place)):
                    return None
                faulty.append(stand)
        return _decision(len(places), self.checked, tuple(faulty))

    def _is_everywhere(self, standing: int, arguments: Mapping[str, Any], place: Place) -> bool:
        """Tell whether a call has the same fault whichever expected call of its tool it is put to.

        Where that holds of every faulty call, no assignment matches more than the calls that match in place, and all
        that match as many decide the same.
        """
        if len(self.places) == 1:
            return True
        rivals = [each for each in self.places if each.name == place.name and each is not place]
        if not rivals:
            return True
        if standing == WRONG and (common := self._common_of(place.name)) is not None and common.is_wrong(arguments):
            return True
        return standing > FOR_A_JUDGE and all(rival.call.standing(arguments) == standing for rival in rivals)

    def _common_of(self, name: str) -> Common | None:
        if name not in self._common:
            same = [place for place in self.places if place.name == name]
            self._common[name] = Common.of([place.call for place in same], same[0].profile)
        return self._common[name]


@lru_cache(maxsize=4096)
def _decision(total: int, checked: int, faulty: tuple[tuple[int, bool], ...]) -> Decision:
    """Return what is decided of `total` calls of which these stand so, and all others as expected."""
    failing = sum([breaks for _, breaks in faulty])
    right = [_RIGHT] * (total - len(faulty))
    return decision_of(findings("", total, [*faulty, *right], checked, failing))


def _are_alike(value: Any, wanted: Any) -> bool:
    """Tell whether two values are one JSON text, and so equal under every profile."""
    return type(value) is type(wanted) and (text := _text(value)) != b"" and text == _text(wanted)


def _text(value: Any) -> bytes:
    """Return JSON text with sorted keys, which no other value has; empty where it may not be so."""
    try:
        text = dumps(value, option=_OPTIONS)
    except TypeError:
        # What orjson does not write, such as a large integer.
        return b""
    # NaN is written as null.
    return b"" if b"null" in text else text
