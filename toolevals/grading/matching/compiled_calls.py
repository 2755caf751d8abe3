"""Turns matchers and expected calls into tests, once, for many calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any

from toolevals.grading.matching.equality import Profile
from toolevals.grading.matching.json_types import type_test
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
    DateEqual,
    Exact,
    Fields,
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


class CompiledArgument:
    """One expected argument: its test, and whether it may, must or must not be there."""

    def __init__(self, name: str, matcher: Matcher, profile: Profile) -> None:
        self.name = name
        self.matcher = matcher
        self.profile = profile
        self.forbidden = isinstance(matcher, Absent)
        self.required = not (matcher.optional or self.forbidden)
        self.test = compile_matcher(matcher, profile)

    @cached_property
    def document(self) -> dict[str, Any]:
        """The document of the matcher, made once for all the reports that show it."""
        return self.matcher.to_document()

    @cached_property
    def fits(self) -> Callable[[Any], bool]:
        """The test of being of the expected type."""
        return type_test(self.matcher, self.profile)

    @cached_property
    def pointer(self) -> str:
        """The JSON pointer to the argument."""
        return pointer_to((self.name,))

    def standing(self, value: Any) -> int:
        """Return what is to be said of a value that is there, from ALL_AS_EXPECTED to EXTRA."""
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
