"""Matchers and expected calls turned into tests, once, for many calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from toolevals.grading.dates import read_moment
from toolevals.grading.equality import Profile, number_in
from toolevals.grading.json_types import type_test
from toolevals.grading.matchers import (
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
    Pattern,
    Range,
)
from toolevals.grading.numbers import decimal_value, is_finite
from toolevals.grading.patterns import compile_pattern
from toolevals.grading.problems import pointer_to
from toolevals.grading.values import CallExpectation

# Whether a value matches; None where only a judge can say.
Test = Callable[[Any], "bool | None"]

# The scalars of one JSON type that a matcher admits: a value of these Python types is of that JSON type, and matches
# where it is one of them, or, if it is text, where its form is.
Admitted = tuple[frozenset[type], frozenset[Any]]
_NUMBERS: frozenset[type] = frozenset({int, float})
_SCALAR_KINDS: tuple[frozenset[type], ...] = (
    frozenset({str}),
    _NUMBERS,
    frozenset({bool}),
    frozenset({type(None)}),
)

# What does not look at the value.
_ANSWERS = {NaturalLanguage.kind: None, KeyOnly.kind: True, Absent.kind: False}


# How the arguments of a call stand, the worst last: each is a failure mode but the first two.
ALL_AS_EXPECTED, FOR_A_JUDGE, WRONG, MISSHAPEN, EXTRA, MISSING = range(6)
MODES = ("", "", "wrong_value", "wrong_shape", "extra_argument", "missing_argument")


@dataclass(frozen=True, slots=True)
class ArgumentsCheck:
    """How a call's arguments stand to what was expected, by argument name.

    `missing` are absent though expected, `extra` present though not allowed, `misshapen` of another type, `wrong` of
    the right type and another value, `unjudged` for a judge.
    """

    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    misshapen: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()

    @property
    def faults(self) -> int:
        """How many arguments are not as expected."""
        return len(self.missing) + len(self.extra) + len(self.misshapen) + len(self.wrong)

    @property
    def proved(self) -> bool:
        """Whether everything is as expected and nothing is left to a judge."""
        return self.standing == ALL_AS_EXPECTED

    @property
    def standing(self) -> int:
        """The worst that is to be said of any argument, as `CompiledCall.standing`."""
        worst_first = (self.missing, self.extra, self.misshapen, self.wrong, self.unjudged)
        return next((MISSING - place for place, names in enumerate(worst_first) if names), ALL_AS_EXPECTED)

    @property
    def shape_faults(self) -> tuple[str, ...]:
        """The arguments whose presence or type is not as expected."""
        return (*self.missing, *self.extra, *self.misshapen)


ALL_MATCH = ArgumentsCheck()


@dataclass(frozen=True, slots=True)
class CompiledArgument:
    """One expected argument: its test, its type, and whether it may, must or must not be there.

    `document` is the matcher's and `pointer` leads to the argument; made once for all the reports that show them.
    `admitted` says the same of some values more quickly than `test` and `fits`.
    """

    matcher: Matcher
    document: dict[str, Any]
    pointer: str
    admitted: Admitted | None
    test: Test
    fits: Callable[[Any], bool]
    required: bool
    forbidden: bool

    def fault(self, value: Any, passed: bool | None) -> int:
        """Return what is to be said of a value that is there and did not pass."""
        if passed is None:
            return FOR_A_JUDGE
        if self.forbidden:
            return EXTRA
        return WRONG if self.fits(value) else MISSHAPEN


@dataclass(frozen=True, slots=True)
class CompiledCall:
    """One expected call. `name` is the form of its tool's name under the profile."""

    expectation: CallExpectation
    name: str
    arguments: Mapping[str, CompiledArgument]

    def check(self, actual: Mapping[str, Any]) -> ArgumentsCheck:
        """Compare a call's arguments with what is expected of them."""
        found: list[tuple[int, str]] = []
        for name, argument in self.arguments.items():
            if name not in actual:
                if argument.required:
                    found.append((MISSING, name))
            elif not (passed := argument.test(actual[name])):
                found.append((argument.fault(actual[name], passed), name))
        if not self.expectation.additional_arguments:
            found += [(EXTRA, name) for name in actual if name not in self.arguments]
        if not found:
            return ALL_MATCH
        return _one_fault(*found[0]) if len(found) == 1 else _faults(found)

    def standing(self, actual: Mapping[str, Any]) -> int:
        """Return the worst that is to be said of a call's arguments, from ALL_AS_EXPECTED to MISSING."""
        worst, present = ALL_AS_EXPECTED, 0
        for name, argument in self.arguments.items():
            if name in actual:
                present += 1
                if not (passed := argument.test(actual[name])):
                    worst = max(worst, argument.fault(actual[name], passed))
            elif argument.required:
                return MISSING
        return EXTRA if present < len(actual) and not self.expectation.additional_arguments else worst


def _faults(found: Sequence[tuple[int, str]]) -> ArgumentsCheck:
    worst_first: list[list[str]] = [[] for _ in range(MISSING)]
    for standing, name in found:
        worst_first[MISSING - standing].append(name)
    return ArgumentsCheck(*map(tuple, worst_first))


@lru_cache(maxsize=1024)
def _one_fault(standing: int, name: str) -> ArgumentsCheck:
    # Where calls of one tool are put to each other, most differ in the same one argument.
    return _faults([(standing, name)])


def compile_call(call: CallExpectation, profile: Profile) -> CompiledCall:
    """Return the expected call as tests under a profile."""
    arguments = {name: _argument(name, matcher, profile) for name, matcher in call.arguments.items()}
    return CompiledCall(call, profile.tool_name(call.tool), arguments)


def compile_matcher(matcher: Matcher, profile: Profile) -> Test:
    """Return the matcher's test of a value that is there, under a profile."""
    match matcher:
        case Exact():
            return _equal_to((matcher.value,), profile)
        case OneOf():
            return _equal_to(matcher.values, profile)
        case Range():
            return _between(matcher, profile)
        case Approximately():
            return _close_to(matcher, profile)
        case DateEqual():
            return _same_date(matcher)
        case Fields():
            return _fields(matcher, profile)
        case Items():
            return _items(matcher, profile)
        case NaturalLanguage() | KeyOnly() | Absent():
            answer = _ANSWERS[matcher.kind]
            return lambda _value: answer
        case _:
            return _text_test(matcher)


def _argument(name: str, matcher: Matcher, profile: Profile) -> CompiledArgument:
    forbidden = isinstance(matcher, Absent)
    return CompiledArgument(
        matcher=matcher,
        document=matcher.to_document(),
        pointer=pointer_to((name,)),
        admitted=_admitted_scalars(matcher, profile),
        test=compile_matcher(matcher, profile),
        fits=type_test(matcher, profile),
        required=not (matcher.optional or forbidden),
        forbidden=forbidden,
    )


def _admitted_scalars(matcher: Matcher, profile: Profile) -> Admitted | None:
    values = (matcher.value,) if isinstance(matcher, Exact) else matcher.values if isinstance(matcher, OneOf) else ()
    kinds = next((kinds for kinds in _SCALAR_KINDS if values and all(type(value) in kinds for value in values)), None)
    if kinds is None or profile.name == "loose" or (profile.typed_numbers and kinds is _NUMBERS):
        # Text may be a number, or numbers of one value differ.
        return None
    if any(value != value for value in values):  # noqa: PLR0124 (NaN equals nothing)
        return None
    # A form is its own form, so that texts and their forms can be looked up together.
    forms = [profile.text_form(value) for value in values if isinstance(value, str)]
    return kinds, frozenset((*values, *forms))


def _equal_to(expected: Sequence[Any], profile: Profile) -> Test:
    """Return the test of being equal to one of these: scalars are looked up, the others compared one by one."""
    form, equal = profile.text_form, profile.equal
    texts: set[str] = set()
    scalars: dict[type, set[Any]] = {}
    others: list[Any] = []
    for value in expected:
        if isinstance(value, str) and isinstance(text := form(value), str):
            # A form is its own form, so that texts and their forms can be looked up together.
            texts |= {value, text}
        elif value is None or isinstance(value, bool):
            scalars.setdefault(type(value), set()).add(value)
        elif isinstance(value, int | float) and value == value and profile.name != "loose":  # noqa: PLR0124 (not NaN)
            for kind in (type(value),) if profile.typed_numbers else (int, float):
                scalars.setdefault(kind, set()).add(value)
        else:
            others.append(value)

    def is_text(value: Any) -> bool:
        return isinstance(value, str) and (value in texts or form(value) in texts)

    def is_scalar(value: Any) -> bool:
        return (known := scalars.get(type(value))) is not None and value in known

    if not others and not (texts and scalars):
        return is_text if texts else is_scalar
    return lambda value: is_text(value) or is_scalar(value) or any(equal(each, value) for each in others)


def _between(matcher: Range, profile: Profile) -> Test:
    low, high = matcher.low, matcher.high

    def test(value: Any) -> bool:
        number = _number(value, profile)
        return number is not None and (low is None or low <= number) and (high is None or number <= high)

    return test


def _close_to(matcher: Approximately, profile: Profile) -> Test:
    low, high = matcher.bounds()

    def test(value: Any) -> bool:
        number = _number(value, profile)
        return number is not None and is_finite(number) and low <= decimal_value(number) <= high

    return test


def _same_date(matcher: DateEqual) -> Test:
    wanted, formats = matcher.moment(), matcher.formats

    def test(value: Any) -> bool:
        moment = read_moment(value, formats) if isinstance(value, str) else None
        return wanted is not None and moment is not None and wanted.admits(moment)

    return test


def _number(value: Any, profile: Profile) -> float | None:
    if isinstance(value, str):
        return number_in(value) if profile.name == "loose" else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _text_test(matcher: Pattern | Contains | HasPrefix | HasSuffix) -> Test:
    found: Callable[[str], bool]
    match matcher:
        case Pattern():
            search = compile_pattern(matcher.pattern).search
            found = lambda value: search(value) is not None  # noqa: E731 (one of four of a kind)
        case Contains():
            found = lambda value: matcher.text in value  # noqa: E731
        case HasPrefix():
            found = lambda value: value.startswith(matcher.text)  # noqa: E731
        case HasSuffix():
            found = lambda value: value.endswith(matcher.text)  # noqa: E731
    return lambda value: isinstance(value, str) and found(value)


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
