"""Turns matchers that admit scalars of one JSON type, which nearly all do, into sets to look values up in."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from toolevals.grading.matching.equality import Profile
from toolevals.grading.values.matchers import Exact, Matcher, OneOf

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
NO_SCALARS: Admitted = (frozenset(), frozenset())


def admitted_scalars(matcher: Matcher, profile: Profile) -> Admitted:
    """Return the scalars that a matcher admits; NO_SCALARS where it admits other values too, or these need more."""
    values = (matcher.value,) if isinstance(matcher, Exact) else matcher.values if isinstance(matcher, OneOf) else ()
    kinds = next((kinds for kinds in _SCALAR_KINDS if values and all(type(value) in kinds for value in values)), None)
    if kinds is None or profile.name == "loose" or (profile.typed_numbers and kinds is _NUMBERS):
        # Text may be a number, or numbers of one value differ.
        return NO_SCALARS
    if any(value != value for value in values):  # noqa: PLR0124 (NaN equals nothing)
        return NO_SCALARS
    # A form is its own form, so that texts and their forms can be looked up together.
    forms = [profile.text_form(value) for value in values if isinstance(value, str)]
    return kinds, _one_of_a_kind(frozenset((*values, *forms)))


@lru_cache(maxsize=4096)
def _one_of_a_kind(values: frozenset[Any]) -> frozenset[Any]:
    # Many expectations name the same few values.
    return values
