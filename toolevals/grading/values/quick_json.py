"""JSON text read by the quick parser, where what it gives is provably what the careful one would give.

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
# A colon that may follow a key with white space between.
_APART = (" :", "\n:", "\t:", "\r:")


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
    if text.count(":") == len(value) and _CLOSER.isdisjoint(map(type, value.values())):
        return value
    return value if _is_good(value, text, max_depth) else UNSURE


def _is_good(value: Any, text: str, max_depth: int) -> bool:
    """Tell whether a text surely has no other pairs than its value, no large integer, and not too many levels."""
    if holds_long_number(text) or any(each in text for each in _APART):
        return False
    if text.count("[") + text.count("{") > max_depth:
        for _ in range(MAX_DEPTH - max_depth):
            value = [value]
    try:
        written = orjson.dumps(value)
    except TypeError:
        # Too many levels.
        return False
    # The colon of each pair follows the quote that closes its key. Strings may hold a quote and a colon too, and what
    # they hold is written at least as often in the text as in the value's own text. So a pair that was lost shows.
    return text.count('":') == written.count(b'":')
