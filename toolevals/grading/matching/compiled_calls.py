"""Turns matchers and expected calls into tests, once, for many calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from toolevals.grading.matching.equality import Profile
from toolevals.grading.matching.json_types import type_test
from toolevals.grading.matching.scalar_sets import Admitted, admitted_scalars
from toolevals.grading.matching.value_tests import Test, between, close_to, equal_to, same_date, text_test
from toolevals.grading.values import CallExpectation
from toolevals.grading.values.argument_checks import (
    ALL_AS_EXPECTED,
    EXTRA,
    FOR_A_JUDGE,
    MISSHAPEN,
    MISSING,
    WRONG,
    ArgumentsCheck,
    check_of,
)
from toolevals.grading.values.matchers import (
    Absent,
    Approximately,
    Contains,
    DateEqual,
    Exact,
    Fields,
    HasPrefix,
    HasSuffix,
    Items,
    KeyOnly,
    Matcher,
    NaturalLanguage,
    OneOf,
    Range,
    ResultOf,
)
from toolevals.grading.values.problems import pointer_to
from toolevals.grading.values.value_classes import value_class

# What does not look at the value.
_ANSWERS = {NaturalLanguage.kind: None, ResultOf.kind: None, KeyOnly.kind: True, Absent.kind: False}


# Kinds that can always be compiled.
SURE: frozenset[type[Matcher]] = frozenset(
    {Absent, Contains, Exact, HasPrefix, HasSuffix, KeyOnly, NaturalLanguage, OneOf, Range}
)

# Two values of one of these types are equal, or wrong and nothing worse: unless text may be a number.
PLAIN: frozenset[type] = frozenset({str, int, float, bool, type(None)})


class CompiledArgument:
    """One expected argument: its test, its type, and whether it may, must or must not be there.

    `document` is the matcher's and `pointer` leads to the argument; made once for all the reports that show them.
    `admitted` says the same of some values more quickly than `test` and `fits`. These are made when they are first
    wanted; what may fail is made at once.
    """

    __slots__ = (
        "admitted",
        "document",
        "fits",
        "forbidden",
        "matcher",
        "name",
        "pointer",
        "profile",
        "required",
        "test",
    )

    admitted: Admitted
    document: dict[str, Any]
    fits: Callable[[Any], bool]
    pointer: str
    test: Test

    def __init__(self, name: str, matcher: Matcher, profile: Profile) -> None:
        self.name = name
        self.matcher = matcher
        self.profile = profile
        self.forbidden = isinstance(matcher, Absent)
        self.required = not (matcher.optional or self.forbidden)
        if type(matcher) not in SURE:
            self.test = compile_matcher(matcher, profile)

    def __getattr__(self, name: str) -> Any:
        # Python asks here only where a slot is empty.
        if name not in _MADE_LATER:
            raise AttributeError(name)
        value = _MADE_LATER[name](self)
        setattr(self, name, value)
        return value

    def equals_plainly(self, value: Any) -> bool | None:
        """Return whether a value is the one plain value of its type that is expected; None where tests have to say."""
        matcher, kind = self.matcher, type(value)
        if type(matcher) is not Exact or type(wanted := matcher.value) is not kind or kind not in PLAIN:
            return None
        if value == wanted:
            return True
        if self.profile.name == "loose":
            return None
        form = self.profile.text_form
        return kind is str and form(value) == form(wanted)

    def standing(self, value: Any) -> int:
        """Return what is to be said of a value that is there, from ALL_AS_EXPECTED to EXTRA."""
        if (is_equal := self.equals_plainly(value)) is not None:
            return ALL_AS_EXPECTED if is_equal else WRONG
        kinds, admitted = self.admitted
        kind = type(value)
        if kind in kinds:
            known = value in admitted or (kind is str and self.profile.text_form(value) in admitted)
            return ALL_AS_EXPECTED if known else WRONG
        if passed := self.test(value):
            return ALL_AS_EXPECTED
        if passed is None:
            return FOR_A_JUDGE
        if self.forbidden:
            return EXTRA
        return WRONG if self.fits(value) else MISSHAPEN


@value_class
class CompiledCall:
    """One expected call. `name` is the form of its tool's name under the profile."""

    expectation: CallExpectation
    name: str
    arguments: Mapping[str, CompiledArgument]

    def check(self, actual: Mapping[str, Any]) -> ArgumentsCheck:
        """Compare a call's arguments with what is expected of them."""
        found: list[tuple[int, str]] = []
        present = 0
        for name, argument in self.arguments.items():
            if name not in actual:
                if argument.required:
                    found.append((MISSING, name))
                continue
            present += 1
            if standing := argument.standing(actual[name]):
                found.append((standing, name))
        if present < len(actual) and not self.expectation.additional_arguments:
            found += [(EXTRA, name) for name in actual if name not in self.arguments]
        return check_of(found)

    def standing(self, actual: Mapping[str, Any]) -> int:
        """Return the worst that is to be said of a call's arguments, from ALL_AS_EXPECTED to MISSING."""
        worst, present = ALL_AS_EXPECTED, 0
        for name, argument in self.arguments.items():
            if name in actual:
                present += 1
                worst = max(worst, argument.standing(actual[name]))
            elif argument.required:
                return MISSING
        return EXTRA if present < len(actual) and not self.expectation.additional_arguments else worst


def compile_call(call: CallExpectation, profile: Profile) -> CompiledCall:
    """Return the expected call as tests under a profile."""
    arguments = {name: CompiledArgument(name, matcher, profile) for name, matcher in call.arguments.items()}
    return CompiledCall(call, profile.tool_name(call.tool), arguments)


def compile_matcher(matcher: Matcher, profile: Profile) -> Test:
    """Return the matcher's test of a value that is there, under a profile."""
    match matcher:
        case Exact():
            return equal_to((matcher.value,), profile)
        case OneOf() | ResultOf() if matcher.values or isinstance(matcher, OneOf):
            return equal_to(matcher.values, profile)
        case Range():
            return between(matcher, profile)
        case Approximately():
            return close_to(matcher, profile)
        case DateEqual():
            return same_date(matcher)
        case Fields():
            return _fields(matcher, profile)
        case Items():
            return _items(matcher, profile)
        case NaturalLanguage() if profile.judge is not None:
            return partial(profile.judge, matcher.criteria)
        case NaturalLanguage() | ResultOf() | KeyOnly() | Absent():
            answer = _ANSWERS[matcher.kind]
            return lambda _value: answer
        case _:
            return text_test(matcher)


_MADE_LATER: Mapping[str, Callable[[CompiledArgument], Any]] = {
    "admitted": lambda made: admitted_scalars(made.matcher, made.profile),
    "document": lambda made: made.matcher.to_document(),
    "fits": lambda made: type_test(made.matcher, made.profile),
    "pointer": lambda made: pointer_to((made.name,)),
    "test": lambda made: compile_matcher(made.matcher, made.profile),
}


def _fields(matcher: Fields, profile: Profile) -> Test:
    call = compile_call(CallExpectation("", matcher.fields, matcher.additional_fields), profile)

    def test(value: Any) -> bool | None:
        if not isinstance(value, dict):
            return False
        check = call.check(value)
        return False if check.faults else (None if check.unjudged else True)

    return test


def _items(matcher: Items, profile: Profile) -> Test:
    tests = [compile_matcher(item, profile) for item in matcher.items]

    def test(value: Any) -> bool | None:
        if not isinstance(value, list | tuple) or len(value) != len(tests):
            return False
        answers = [test(item) for test, item in zip(tests, value, strict=True)]
        return False if False in answers else (None if None in answers else True)

    return test
