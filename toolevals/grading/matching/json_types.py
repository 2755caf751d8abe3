"""Tells the JSON type of a value under a profile, and which types a matcher admits."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from toolevals.grading.matching.equality import Profile, number_in
from toolevals.grading.values.matchers import (
    Approximately,
    Contains,
    DateEqual,
    Exact,
    Fields,
    HasPrefix,
    HasSuffix,
    Items,
    Matcher,
    OneOf,
    Pattern,
    Range,
    ResultOf,
)


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

    def test(value: Any) -> bool:
        fits = fitting.get(type(value))
        return _type_of(value, profile) in types if fits is None else fits

    return test


def _type_of(value: Any, profile: Profile) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    if isinstance(value, str):
        return "number" if profile.name == "loose" and number_in(value) is not None else "string"
    if isinstance(value, int | float):
        return "integer" if profile.typed_numbers and isinstance(value, int) else "number"
    return "object" if isinstance(value, dict) else "array"
