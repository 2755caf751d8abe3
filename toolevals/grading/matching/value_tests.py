"""Makes the tests of single values, texts, numbers and dates, from their matchers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from toolevals.grading.matching.equality import Profile, number_in
from toolevals.grading.values.dates import read_moment
from toolevals.grading.values.matchers import Approximately, Contains, DateEqual, HasPrefix, HasSuffix, Pattern, Range
from toolevals.grading.values.numbers import decimal_value, is_finite
from toolevals.grading.values.patterns import compile_pattern

# Whether a value matches; None where only a judge can say, or a result that it refers to is not known.
Test = Callable[[Any], "bool | None"]


def equal_to(expected: Sequence[Any], profile: Profile) -> Test:
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


def between(matcher: Range, profile: Profile) -> Test:
    """Return the test of being a number between two others; these are within."""
    low, high = matcher.low, matcher.high

    def test(value: Any) -> bool:
        number = _number(value, profile)
        return number is not None and (low is None or low <= number) and (high is None or number <= high)

    return test


def close_to(matcher: Approximately, profile: Profile) -> Test:
    """Return the test of being a number about as large as another."""
    low, high = matcher.bounds()

    def test(value: Any) -> bool:
        number = _number(value, profile)
        return number is not None and is_finite(number) and low <= decimal_value(number) <= high

    return test


def same_date(matcher: DateEqual) -> Test:
    """Return the test of being the text of a date or a moment, in one of the formats."""
    wanted, formats = matcher.moment(), matcher.formats

    def test(value: Any) -> bool:
        moment = read_moment(value, formats) if isinstance(value, str) else None
        return wanted is not None and moment is not None and wanted.admits(moment)

    return test


def _number(value: Any, profile: Profile) -> float | None:
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
