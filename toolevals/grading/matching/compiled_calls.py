"""Turns matchers and expected calls into tests, once, for many calls.

Tells the JSON type of a value under a profile, and which types a matcher admits.

Makes the tests of single values, texts, numbers and dates, from their matchers.

Define how a call's arguments stand to what is expected of them.

Finds the calls that an expectation asks for exactly: they can be executed in place of an agent's.

Where it admits several values, nothing says what the world should be like after a call with any one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from typing import Any

from toolevals.grading.matching.equality import Profile, number_in
from toolevals.grading.values import CallExpectation, Expectation, ToolCall, Trajectory
from toolevals.grading.values.dates import read_moment
from toolevals.grading.values.expectations import options_of
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
    Pattern,
    Range,
    ResultOf,
    compile_pattern,
    decimal_value,
    is_finite,
)
from toolevals.grading.values.problems import pointer_to
from toolevals.grading.values.value_classes import value_class
from toolevals.json_types import JsonMapping, JsonObject

# How the arguments of a call stand, the worst last: each is a failure mode but the first two.
ALL_AS_EXPECTED, FOR_A_JUDGE, WRONG, MISSHAPEN, EXTRA, MISSING = range(6)
MODES = ("", "", "wrong_value", "wrong_shape", "extra_argument", "missing_argument")


@value_class
class ArgumentsCheck:
    """The result of a check of a call's arguments against the expected ones, by argument name.

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
        """Return how many arguments are not as expected."""
        return len(self.missing) + len(self.extra) + len(self.misshapen) + len(self.wrong)

    @property
    def proved(self) -> bool:
        """Return whether everything is as expected and nothing is left to a judge."""
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


def check_of(found: Sequence[tuple[int, str]]) -> ArgumentsCheck:
    """Return the check that has found this of arguments, by name; of the others there is nothing to say."""
    if not found:
        return ALL_MATCH
    return _one_fault(*found[0]) if len(found) == 1 else _faults(found)


def _faults(found: Sequence[tuple[int, str]]) -> ArgumentsCheck:
    worst_first: list[list[str]] = [[] for _ in range(MISSING)]
    for standing, name in found:
        worst_first[MISSING - standing].append(name)
    return ArgumentsCheck(*map(tuple, worst_first))


@lru_cache(maxsize=1024)
def _one_fault(standing: int, name: str) -> ArgumentsCheck:
    # Where calls of one tool are put to each other, most differ in the same one argument.
    return _faults([(standing, name)])


def type_test(matcher: Matcher, profile: Profile) -> Callable[[Any], bool]:
    """Return the test of a value's JSON type alone: integers and floats are one type unless the profile parts them."""
    match matcher:
        case Exact():
            return _of_types(frozenset({_type_of(matcher.value, profile)}), profile)
        case OneOf():
            return _of_types(frozenset(_type_of(value, profile) for value in matcher.values), profile)
        case ResultOf() if matcher.values:
            return _of_types(frozenset(_type_of(value, profile) for value in matcher.values), profile)
        case Range() | Approximately():
            return _of_types(frozenset({"number", "integer"}), profile)
        case DateEqual() | Pattern() | Contains() | HasPrefix() | HasSuffix():
            return _of_types(frozenset({"string"}), profile)
        case Fields():
            return _of_types(frozenset({"object"}), profile)
        case Items():
            return _of_types(frozenset({"array"}), profile)
        case _:
            return lambda _value: True


@lru_cache(maxsize=512)
def _of_types(types: frozenset[str], profile: Profile) -> Callable[[Any], bool]:
    samples: list[Any] = [None, True, 1, 0.5, {}, []]
    if profile.name != "loose":
        # There a text may be a number.
        samples.append("")
    fitting = {type(sample): _type_of(sample, profile) in types for sample in samples}

    def test(value: object) -> bool:
        fits = fitting.get(type(value))
        return _type_of(value, profile) in types if fits is None else fits

    return test


def _type_of(value: object, profile: Profile) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    if isinstance(value, str):
        return "number" if profile.name == "loose" and number_in(value) is not None else "string"
    if isinstance(value, int | float):
        return "integer" if profile.typed_numbers and isinstance(value, int) else "number"
    return "object" if isinstance(value, dict) else "array"


# Whether a value matches; None where only a judge can say, or a result that it refers to is not known.
Test = Callable[[Any], "bool | None"]


def equal_to(expected: Sequence[object], profile: Profile) -> Test:
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

    def is_text(value: object) -> bool:
        return isinstance(value, str) and (value in texts or form(value) in texts)

    def is_scalar(value: object) -> bool:
        return (known := scalars.get(type(value))) is not None and value in known

    if not others and not (texts and scalars):
        return is_text if texts else is_scalar
    return lambda value: is_text(value) or is_scalar(value) or any(equal(each, value) for each in others)


def between(matcher: Range, profile: Profile) -> Test:
    """Return the test of being a number between two others; these are within."""
    low, high = matcher.low, matcher.high

    def test(value: object) -> bool:
        number = _number(value, profile)
        return number is not None and (low is None or low <= number) and (high is None or number <= high)

    return test


def close_to(matcher: Approximately, profile: Profile) -> Test:
    """Return the test of being a number about as large as another."""
    low, high = matcher.bounds()

    def test(value: object) -> bool:
        number = _number(value, profile)
        return number is not None and is_finite(number) and low <= decimal_value(number) <= high

    return test


def same_date(matcher: DateEqual) -> Test:
    """Return the test of being the text of a date or a moment, in one of the formats."""
    wanted, formats = matcher.moment(), matcher.formats

    def test(value: object) -> bool:
        moment = read_moment(value, formats) if isinstance(value, str) else None
        return wanted is not None and moment is not None and wanted.admits(moment)

    return test


def _number(value: object, profile: Profile) -> float | None:
    if isinstance(value, str):
        return number_in(value) if profile.name == "loose" else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def text_test(matcher: Pattern | Contains | HasPrefix | HasSuffix) -> Test:
    """Return the test of being a text that matches, holds, begins or ends as expected."""
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
    def document(self) -> JsonObject:
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

    def standing(self, value: object) -> int:
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

    def check(self, actual: JsonMapping) -> ArgumentsCheck:
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

    def test(value: object) -> bool | None:
        if not isinstance(value, dict):
            return False
        check = call.check(value)
        return False if check.faults else (None if check.unjudged else True)

    return test


def _items(matcher: Items, profile: Profile) -> Test:
    tests = [compile_matcher(item, profile) for item in matcher.items]

    def test(value: object) -> bool | None:
        if not isinstance(value, list | tuple) or len(value) != len(tests):
            return False
        answers = [test(item) for test, item in zip(tests, value, strict=True)]
        return False if False in answers else (None if None in answers else True)

    return test


class InexactError(ValueError):
    """An expectation that leaves open which calls are made; the text is a clause that says where."""


def exact_calls(expectation: Expectation) -> tuple[tuple[ToolCall, ...], ...]:
    """Return the calls of each alternative: a trajectory's ordered ones, then the others, as written.

    No call is one alternative without calls. Arguments without a matcher are left out. Raises InexactError where any
    call will do, and where a matcher of any alternative admits more than one value.
    """
    if expectation.kind == "some_call":
        raise InexactError("any call will do")
    if expectation.kind == "no_call":
        return ((),)
    return tuple(tuple(_calls(trajectory)) for trajectory in expectation.alternatives)


def _calls(trajectory: Trajectory) -> Iterator[ToolCall]:
    for number, expected in enumerate(trajectory.expected, 1):
        options = options_of(expected)
        if len(options) != 1:
            raise InexactError(f"one of several calls will do as call {number}")
        yield ToolCall(options[0].tool, _members(options[0].arguments, options[0].tool), f"gold-{number}")


def _members(matchers: Mapping[str, Matcher], where: str) -> JsonObject:
    return {
        name: _value(matcher, f"{where}.{name}")
        for name, matcher in matchers.items()
        if not isinstance(matcher, Absent)
    }


def _value(matcher: Matcher, where: str) -> Any:
    if matcher.optional:
        raise InexactError(f"{where} may be left out")
    if isinstance(matcher, Exact):
        return matcher.value
    if isinstance(matcher, OneOf) and len(matcher.values) == 1:
        return matcher.values[0]
    if isinstance(matcher, Fields) and not matcher.additional_fields:
        return _members(matcher.fields, where)
    if isinstance(matcher, Items):
        return [_value(item, f"{where}/{place}") for place, item in enumerate(matcher.items)]
    if isinstance(matcher, ResultOf):
        raise InexactError(f"{where} is what call {matcher.call} results in")
    raise InexactError(f"{where} may have several values")
