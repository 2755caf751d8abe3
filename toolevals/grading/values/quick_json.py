"""JSON text read by the quick parser, where what it gives is provably what the careful one would give.

The quick parser takes a key that appears twice, NUL, and integers beyond 64 bits (as floats), and says nothing. Each
leaves a trace that is cheap to look for: every pair has its colon in the text, NUL its escape, and a large integer
has become a large float. Where there is a trace, or no value at all, the careful parser has the say.
"""

from __future__ import annotations

from typing import Any

import orjson

UNSURE = object()
"""What is given where the careful parser has to look."""

# From here on a float may have been an integer.
_LARGE = 2.0**63
_TOO_FEW = -(1 << 60)
# What may be nested or large, and has to be looked at more closely.
_CLOSER = frozenset({float, dict, list})


def read_quickly(text: str, max_depth: int) -> Any:
    """Return the value of JSON text, or UNSURE: where it is not JSON, has a fault, or may have one.

    A value is given where no key appears twice in one object, no integer was read as a float, and no text holds NUL or
    a lone surrogate; and where nothing is nested deeper than `max_depth`.
    """
    try:
        value = orjson.loads(text)
    except ValueError:
        return UNSURE
    if "\\" in text and ("\\u0000" in text or "\\u003" in text):
        return UNSURE
    if type(value) is not dict:
        return UNSURE
    pairs, colons = len(value), text.count(":")
    if colons == pairs and _CLOSER.isdisjoint(map(type, value.values())):
        return value
    for item in value.values():
        kind = type(item)
        if kind is float:
            if not -_LARGE < item < _LARGE:
                return UNSURE
        elif kind is dict or kind is list:
            pairs += _pairs_in(item, max_depth - 1)
    # The text has at least as many pairs as the value, and at least one colon for each.
    return value if colons == pairs or colons == pairs + _colons_in(value) else UNSURE


def _pairs_in(value: Any, levels: int) -> int:
    """Count the pairs of all objects within; far below zero where a number is large, or more than these levels deep."""
    if levels <= 0:
        return _TOO_FEW
    pairs, items = (len(value), value.values()) if type(value) is dict else (0, value)
    for item in items:
        kind = type(item)
        if kind is float:
            if not -_LARGE < item < _LARGE:
                return _TOO_FEW
        elif kind is dict or kind is list:
            pairs += _pairs_in(item, levels - 1)
    return pairs


def _colons_in(value: Any) -> int:
    if type(value) is str:
        return value.count(":")
    if type(value) is dict:
        return sum(map(_colons_in, value)) + sum(map(_colons_in, value.values()))
    return sum(map(_colons_in, value)) if type(value) is list else 0
