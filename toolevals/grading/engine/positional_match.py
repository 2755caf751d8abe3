"""Matches calls that were made just where they are expected: nothing has to be searched for.

Most labels name plain values. These are compared as they stand in the label, and an argument becomes a test only where
its matcher, or the value that came, asks for more. Simple properties are not given to the validator (see
`property_gates`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from orjson import OPT_PASSTHROUGH_DATACLASS, OPT_PASSTHROUGH_DATETIME, OPT_SORT_KEYS

from toolevals.grading.engine.arguments import findings
from toolevals.grading.engine.decisions import Decision, decision_of
from toolevals.grading.engine.known_calls import value_as_text
from toolevals.grading.engine.offered_tools import Offer
from toolevals.grading.json_schema.schema_checks import SchemaGate
from toolevals.grading.json_schema.schema_fast_path import ASK, TEXT
from toolevals.grading.matching.compiled_calls import PLAIN, SURE, CompiledCall, compile_call
from toolevals.grading.matching.equality import Profile
from toolevals.grading.matching.scalar_sets import Admitted
from toolevals.grading.values import Call, CallExpectation, Expectation, ToolCall
from toolevals.grading.values.argument_checks import ALL_AS_EXPECTED, FOR_A_JUDGE, WRONG
from toolevals.grading.values.matchers import Absent, Exact, Matcher, OneOf
from toolevals.grading.values.value_classes import value_class

_SORTED = OPT_SORT_KEYS | OPT_PASSTHROUGH_DATACLASS | OPT_PASSTHROUGH_DATETIME
_NOTHING_PLAIN = frozenset[type]()
_OPEN: frozenset[type] = frozenset({list, dict})
# Up to so many calls of a tool are looked at one by one; of more it pays to know what they have in common: at once
# where they name plain values, else where they are many, since their tests must be made for it.
_FEW, _MANY = 2, 5
# How a call stands that is as expected and keeps its schema.
_RIGHT = (ALL_AS_EXPECTED, False)


class Place:
    """One expected call and the gate of its schema. `name` is the form of its tool's name under the profile."""

    __slots__ = ("_call", "expectation", "gate", "name", "profile")

    _call: CompiledCall

    def __init__(self, expectation: CallExpectation, name: str, gate: SchemaGate, profile: Profile) -> None:
        self.expectation = expectation
        self.name = name
        self.gate = gate
        self.profile = profile

    @property
    def call(self) -> CompiledCall:
        """The expected call as tests, which are made when they are first wanted."""
        try:
            return self._call
        except AttributeError:
            self._call = compile_call(self.expectation, self.profile)
            return self._call

    def look(self, actual: Mapping[str, Any]) -> tuple[int, bool]:
        """Return how arguments stand to what is expected, and whether they break the schema."""
        gate, profile = self.gate, self.profile
        plain, form = _NOTHING_PLAIN if profile.name == "loose" else PLAIN, profile.text_form
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
                if value != wanted and worst < WRONG and (kind is not str or form(value) != form(wanted)):
                    worst = WRONG
            elif (standing := self._standing(name, matcher, value)) > worst:
                worst = standing
            property_gate = gates.get(name, otherwise)
            if property_gate is not TEXT or kind is not str or not value.isascii():
                answers |= property_gate(value)
        if present < len(actual) or not actual.keys() >= gate.required:
            return self._look_long(actual)
        return worst, gate.breaks(actual) if answers >= ASK else bool(answers)

    def _standing(self, name: str, matcher: Matcher, value: Any) -> int:
        standing = None
        if type(matcher) is Exact:
            if type(value) in _OPEN:
                standing = _among_open(value, (matcher.value,), self.profile)
        elif type(matcher) is OneOf:
            among = _among_open if type(value) in _OPEN else _among_plain
            standing = among(value, matcher.values, self.profile)
        return self.call.arguments[name].standing(value) if standing is None else standing

    def _look_long(self, actual: Mapping[str, Any]) -> tuple[int, bool]:
        return self.call.standing(actual), self.gate.breaks(actual)


@value_class
class Common:
    """Expected calls of one tool that ask for the same arguments of the same types; `admitted` by any of them."""

    admitted: Mapping[str, Admitted]
    profile: Profile

    @classmethod
    def of_plain(cls, calls: Sequence[CallExpectation], profile: Profile) -> Common | None:
        """Return what `of` does, without tests; None where the calls do not all name plain values of the same types."""
        names = calls[0].arguments.keys()
        if profile.name == "loose" or any(
            call.additional_arguments or call.arguments.keys() != names for call in calls
        ):
            return None
        admitted = {}
        for name in names:
            matchers = [call.arguments[name] for call in calls]
            values = [each.value for each in matchers if type(each) is Exact and not each.optional]
            kinds = frozenset(map(type, values))
            if len(values) < len(calls) or len(kinds) != 1 or not kinds <= PLAIN:
                return None
            forms = map(profile.text_form, values) if str in kinds else ()
            admitted[name] = kinds, frozenset((*values, *forms))
        return cls(admitted, profile)

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

    `only` says that there is no other alternative, `is_sure` that all of its matchers can always be compiled.
    """

    __slots__ = ("_common", "is_sure", "only", "places")

    def __init__(self, places: Sequence[Place], *, only: bool, is_sure: bool) -> None:
        self.places = places
        self.only = only
        self.is_sure = is_sure
        # What the places of a tool have in common, by its name: worked out when it is first asked for.
        self._common: dict[str, Common | None] | None = None

    @property
    def is_alone(self) -> bool:
        """Return whether one call is expected, and nothing else will do."""
        return self.only and len(self.places) == 1

    @classmethod
    def of(cls, expectation: Expectation, offer: Offer) -> InPlace | None:
        """Return the first alternative's calls; None where a call's place does not say enough."""
        if not expectation.alternatives:
            return None
        first, profile = expectation.alternatives[0], offer.profile
        if first.disallowed:
            return None
        expected = first.expected
        gate_of = offer.schema_gate_once if len(expected) == 1 else offer.schema_gate
        places: list[Place] = []
        is_sure = True
        for each in expected:
            if type(each) is not CallExpectation:
                return None
            is_sure = is_sure and SURE.issuperset(map(type, each.arguments.values()))
            name = profile.tool_name(each.tool)
            places.append(Place(each, name, gate_of(name), profile))
        if len(places) > 1 and not offer.tools.keys() >= {place.name for place in places}:
            # Several labels may have one form, and then the search says which call is which.
            return None
        return cls(places, only=len(expectation.alternatives) == 1, is_sure=is_sure) if places else None

    def names(self, call: Call) -> bool:
        """Return whether a call can be read and names the tool of the first place."""
        place = self.places[0]
        return type(call) is ToolCall and place.profile.tool_name(call.name) == place.name

    def decision(self, calls: Sequence[Call]) -> Decision | None:
        """Return what is decided of calls that stand in place; None where the best alignment has to be searched for."""
        places = self.places
        if len(calls) != len(places):
            return None
        faulty: list[tuple[int, bool]] = []
        checked = 0
        for place, call in zip(places, calls, strict=True):
            if type(call) is not ToolCall:
                return None
            name = call.name
            if name != place.expectation.tool and place.profile.tool_name(name) != place.name:
                return None
            checked += place.gate.is_known
            stand = place.look(call.arguments)
            if stand != _RIGHT:
                if stand[0] and not (self.only and self._is_everywhere(stand[0], call.arguments, place)):
                    return None
                faulty.append(stand)
        return _decision(len(places), checked, tuple(faulty))

    def _is_everywhere(self, standing: int, arguments: Mapping[str, Any], place: Place) -> bool:
        """Tell whether a call has the same fault whichever expected call of its tool it is put to.

        Where that holds of every faulty call, no assignment matches more than the calls that match in place, and all
        that match as many decide the same.
        """
        if len(self.places) == 1:
            return True
        if standing == WRONG and len(self.places) > _FEW:
            common = self._common_of(place.name)
            if common is not None and common.is_wrong(arguments):
                return True
        rivals = [each for each in self.places if each.name == place.name and each is not place]
        if not rivals:
            return True
        return standing > FOR_A_JUDGE and all(rival.look(arguments)[0] == standing for rival in rivals)

    def _common_of(self, name: str) -> Common | None:
        if self._common is None:
            self._common = {}
        if name not in self._common:
            same = [place for place in self.places if place.name == name]
            common, profile = None, same[0].profile
            if len(same) > _FEW:
                common = Common.of_plain([place.expectation for place in same], profile)
            if common is None and len(same) > _MANY:
                common = Common.of([place.call for place in same], profile)
            self._common[name] = common
        return self._common[name]


@lru_cache(maxsize=4096)
def _decision(total: int, checked: int, faulty: tuple[tuple[int, bool], ...]) -> Decision:
    """Return what is decided of `total` calls of which these stand so, and all others as expected."""
    failing = sum([breaks for _, breaks in faulty])
    right = [_RIGHT] * (total - len(faulty))
    return decision_of(findings("", total, [*faulty, *right], checked, failing))


def _among_plain(value: Any, values: Sequence[Any], profile: Profile) -> int | None:
    """Return how a scalar stands to several values of which one is expected; None where tests have to say."""
    kind = type(value)
    if profile.name == "loose":
        return ALL_AS_EXPECTED if kind is str and value in values else None
    if kind is str:
        if value in values:
            return ALL_AS_EXPECTED
        form = profile.text_form
        texts = [form(each) for each in values if type(each) is str]
        return None if not texts else ALL_AS_EXPECTED if form(value) in texts else WRONG
    is_sure = kind in PLAIN
    for each in values:
        if type(each) is not kind:
            # Numbers of two types may be equal.
            is_sure = False
        elif each == value:
            return ALL_AS_EXPECTED
    return WRONG if is_sure and values else None


def _among_open(value: Any, values: Sequence[Any], profile: Profile) -> int | None:
    """Return how a list or an object stands to several values of which one is expected; None where tests have to say.

    What is the same JSON text is equal under every profile, and that is told in a fraction of the time.
    """
    kind = type(value)
    alike = [each for each in values if type(each) is kind]
    if not alike:
        return None
    text = value_as_text(value, _SORTED)
    if text and text in [value_as_text(each, _SORTED) for each in alike]:
        return ALL_AS_EXPECTED
    return ALL_AS_EXPECTED if any(profile.equal(each, value) for each in alike) else WRONG
