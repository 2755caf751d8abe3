"""Reads JSON text by the quick parser, where it provably gives what the careful one would give.

The quick parser takes a key that appears twice, NUL, and integers beyond 64 bits (as floats), and says nothing. Each
leaves a trace that is cheap to look for: a pair that is lost has its colon in the text and not in the value's own text,
NUL has its escape, and a large integer its many digits. Where there is a trace, or no value at all, the careful parser
has the say.
"""

from __future__ import annotations

from typing import Any

import orjson

from toolevals.grading.values.canonical import MAX_DEPTH, holds_long_number

UNSURE = object()
"""What is given where the careful parser has to look."""

# What has to be looked at more closely.
_CLOSER = frozenset({float, dict, list})
# NUL, and what a quote or a colon may be written as in a string.
_ESCAPES = ("\\u0000", "\\u0022", "\\u003")


def read_quickly(text: str, max_depth: int) -> Any:
    """Return the value of JSON text, or UNSURE: where it is not JSON, has a fault, or may have one.

    A value is given where no key appears twice in one object, no integer was read as a float, and no text holds NUL or
    a lone surrogate; and where nothing is nested deeper than `max_depth`.
    """
    try:
        value = orjson.loads(text)
    except ValueError:
        return UNSURE
    if type(value) is not dict or ("\\" in text and any(each in text for each in _ESCAPES)):
        return UNSURE
    # Then there are no other pairs: each has its colon.
    is_flat = text.count(":") == len(value)
    if is_flat and _CLOSER.isdisjoint(map(type, value.values())):
        return value
    if holds_long_number(text) or (text.count("[") + text.count("{") > max_depth and _is_too_deep(value, max_depth)):
        return UNSURE
    return value if is_flat or _holds_every_pair(value, text) else UNSURE


def _is_too_deep(value: Any, max_depth: int) -> bool:
    for _ in range(MAX_DEPTH - max_depth):
        value = [value]
    try:
        orjson.dumps(value)
    except TypeError:
        return True
    return False


def _holds_every_pair(value: Any, text: str) -> bool:
    """Tell whether a value surely has every pair of its text: the colon of each follows the quote that closes its key.

    Strings may hold a quote and a colon too, and they are written at least as often in the text as in the value's own
    text. So a pair that was lost makes a difference.
    """
    if " :" in text or "\n:" in text or "\t:" in text or "\r:" in text:
        return False
    return text.count('":') == orjson.dumps(value).count(b'":')
