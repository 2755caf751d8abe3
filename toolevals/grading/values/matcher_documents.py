"""Reads matchers from documents that the expectation's schema has passed."""

from __future__ import annotations

from typing import Any

from toolevals.grading.values.matchers import (
    MATCHERS,
    Absent,
    Approximately,
    DateEqual,
    Exact,
    Fields,
    Items,
    KeyOnly,
    Matcher,
    OneOf,
    Range,
    ResultOf,
)
from toolevals.grading.values.numbers import is_finite
from toolevals.grading.values.patterns import compile_pattern
from toolevals.grading.values.problems import InvalidDocument, pointer_to

_BY_KIND: dict[str, type[Matcher]] = {matcher.kind: matcher for matcher in MATCHERS}


def matcher_from_document(document: dict[str, Any], pointer: str = "") -> Matcher:
    """Read a matcher that the expectation's schema has passed.

    Raises InvalidDocument on a pattern that RE2 refuses, on an empty range, on a number that is none, and on a date
    that cannot be read in one way; `pointer` is where the matcher stands.
    """
    kind = next(key for key in document if key in _BY_KIND)
    content, optional = document[kind], document.get("optional", False)
    match kind:
        case "key_only" | "absent":
            return (KeyOnly if kind == "key_only" else Absent)(optional=optional)
        case "one_of":
            return OneOf(tuple(content), optional=optional)
        case "range":
            return _range(content, optional, pointer)
        case "fields":
            fields = matchers_from_document(content, f"{pointer}/fields")
            return Fields(fields, optional=optional, additional_fields=document.get("additional_fields", False))
        case "items":
            items = (matcher_from_document(item, f"{pointer}/items/{place}") for place, item in enumerate(content))
            return Items(tuple(items), optional=optional)
        case "approximately":
            return _approximately(content, optional, pointer)
        case "date_equal":
            return _date_equal(content, optional, pointer)
        case "result_of":
            return ResultOf(int(content["call"]), content.get("pointer", ""), optional=optional)
        case "pattern":
            _check_pattern(content, f"{pointer}/pattern")
    plain: Any = _BY_KIND[kind]
    matcher: Matcher = plain(content, optional=optional)
    return matcher


def matchers_from_document(document: dict[str, Any], pointer: str = "") -> dict[str, Matcher]:
    """Read an object of matchers that the expectation's schema has passed. Raises InvalidDocument."""
    return {
        # Most name one value, of which nothing can be wrong.
        name: Exact(item["exact"])
        if len(item) == 1 and "exact" in item
        else matcher_from_document(item, pointer + pointer_to([name]))
        for name, item in document.items()
    }


def _range(content: list[float | None], optional: bool, pointer: str) -> Range:
    low, high = content
    if low is None and high is None:
        raise InvalidDocument.at(f"{pointer}/range", "both ends are open: use key_only")
    if low is not None and high is not None and low > high:
        raise InvalidDocument.at(f"{pointer}/range", "the lower end is above the upper end")
    return Range(low, high, optional=optional)


def _check_pattern(pattern: str, pointer: str) -> None:
    try:
        compile_pattern(pattern)
    except ValueError as error:
        raise InvalidDocument.at(pointer, str(error)) from None


def _approximately(content: dict[str, float], optional: bool, pointer: str) -> Approximately:
    for name, number in content.items():
        if not is_finite(number):
            raise InvalidDocument.at(f"{pointer}/approximately/{name}", "is not a finite number")
    return Approximately(**content, optional=optional)


def _date_equal(content: Any, optional: bool, pointer: str) -> DateEqual:
    if isinstance(content, str):
        matcher, where = DateEqual(content, optional=optional), f"{pointer}/date_equal"
    else:
        matcher = DateEqual(content["date"], tuple(content["formats"]), optional=optional)
        where = f"{pointer}/date_equal/date"
    if len({form.replace("DD", "MM") for form in matcher.formats}) < len(matcher.formats):
        raise InvalidDocument.at(f"{pointer}/date_equal/formats", "the day cannot be both first and second")
    if matcher.moment() is None:
        raise InvalidDocument.at(where, f"{matcher.date} cannot be read as a date in one way only")
    return matcher
