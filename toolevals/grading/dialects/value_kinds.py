"""Tells how two values that are compared differ: by type, how a number is written, white space, case, marks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from toolevals.grading.matching.equality import bfcl_text

Kind = Literal["types", "numbers", "white_space", "case", "punctuation"]
KINDS: tuple[Kind, ...] = ("numbers", "types", "white_space", "case", "punctuation")


def kind_of(one: Any, other: Any) -> Kind:
    """Return the way in which two scalars differ.

    `numbers`: both are numbers (1 and 1.0); `types`: they are of different types (5 and "5"); texts differ by white
    space at their ends, then by case, else by other characters.
    """
    if _is_number(one) and _is_number(other):
        return "numbers"
    if not isinstance(one, str) or not isinstance(other, str):
        return "types"
    if one.strip() == other.strip():
        return "white_space"
    return "case" if one.strip().casefold() == other.strip().casefold() else "punctuation"


def rewritten(made: Any, expected: Any, kind: Kind | None) -> Any:
    """Return a value with its parts as they are expected, where they differ in one way only; None takes every way."""
    if isinstance(made, dict) and isinstance(expected, dict):
        return {key: rewritten(item, expected[key], kind) if key in expected else item for key, item in made.items()}
    if isinstance(made, list) and isinstance(expected, list) and len(made) == len(expected):
        return [rewritten(one, other, kind) for one, other in zip(made, expected, strict=True)]
    if isinstance(made, dict | list) or isinstance(expected, dict | list):
        return expected if kind is None else made
    return expected if kind is None or kind_of(made, expected) == kind else made


def alike_in(made: Any, expected: Any) -> Iterator[Kind | None]:
    """Yield what a lenient reader overlooks in each differing part of two values; None where nothing is alike.

    `types` is a value next to the text of it or its equal of another type (5 and "5", 1 and true), `numbers` one number
    written in two ways, and texts are alike but for white space, case, or spaces and marks.
    """
    if isinstance(made, Mapping) and isinstance(expected, Mapping) and made.keys() == expected.keys():
        for key, item in made.items():
            yield from alike_in(item, expected[key])
    elif isinstance(made, list) and isinstance(expected, list) and len(made) == len(expected):
        for one, other in zip(made, expected, strict=True):
            yield from alike_in(one, other)
    elif isinstance(made, dict | list) or isinstance(expected, dict | list):
        yield None
    elif type(made) is not type(expected) or made != expected:
        yield _alike(made, expected)


def _alike(one: Any, other: Any) -> Kind | None:
    kind = kind_of(one, other)
    if kind in ("numbers", "types"):
        return kind if one == other or str(one).strip() == str(other).strip() else None
    return kind if kind != "punctuation" or bfcl_text(one) == bfcl_text(other) else None


def another(value: Any) -> Any:
    """Return a value of the same type that no one has expected; what is neither text nor number stays."""
    if isinstance(value, str):
        return f"{value} (another value)"
    return value * 7 + 12345 if _is_number(value) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
