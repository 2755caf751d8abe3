"""Tells whether values are equal after a change of type."""

from __future__ import annotations

import re
from typing import Any

from toolevals.grading.edge_cases.amounts import read_amount
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument

_LITERALS = {"true": True, "false": False, "yes": True, "no": False, "null": None, "none": None}
_NUMBER = re.compile(r"[+-]?[0-9]{1,300}(?:\.[0-9]{1,300})?")
_LONGEST_TEXT = 10_000


def is_literal(text: str) -> bool:
    """Tell whether text reads as a number, a boolean or null."""
    return text.strip().lower() in _LITERALS or bool(_NUMBER.fullmatch(text.strip()))


def equal_after_coercion(one: Any, other: Any) -> bool:
    """Tell whether two unequal values of different types are equal once one takes the other's type.

    Text and what it is in JSON or Python (`"5"`, `"true"`, `"None"`, `"[1]"`); 1 and 0 and the booleans; a value and
    the list of it alone; a list of texts and its items joined by commas.
    """
    return _becomes(one, other) or _becomes(other, one)


def _becomes(one: Any, other: Any) -> bool:
    if isinstance(one, bool):
        return isinstance(other, int | float) and not isinstance(other, bool) and one == other
    if isinstance(one, list) and not isinstance(other, list):
        return len(one) == 1 and (_same(one[0], other) or _becomes(one[0], other) or _becomes(other, one[0]))
    if isinstance(one, str) and not isinstance(other, str):
        return _text_becomes(one, other)
    return False


def _text_becomes(text: str, value: Any) -> bool:
    if len(text) > _LONGEST_TEXT:
        return False
    word = text.strip().lower()
    if value is None or isinstance(value, bool):
        return word in _LITERALS and _LITERALS[word] is value
    if isinstance(value, int | float):
        said, meant = read_amount(text.strip().removeprefix("+")), read_amount(value)
        return said is not None and meant is not None and not said.is_marked and said.number == meant.number
    if isinstance(value, list) and all(isinstance(item, str) for item in value) and "," in text:
        return [part.strip() for part in text.split(",")] == value
    try:
        return _same(load_json(text), value)
    except InvalidDocument:
        return False


def _same(one: Any, other: Any) -> bool:
    return isinstance(one, bool) is isinstance(other, bool) and bool(one == other)
