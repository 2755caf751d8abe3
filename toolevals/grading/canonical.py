"""JSON text in one canonical form, and names by content.

Canonical form: UTF-8 text, keys sorted by code point, no white space, integers of any size, floats in their shortest
form that reads back the same. What JSON cannot say exactly is refused: NaN, infinities, NUL, lone surrogates.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import orjson


def canonical(value: Any) -> str:
    """Return the canonical JSON text of `value`. Raises ValueError where it has none."""
    try:
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except (TypeError, ValueError):
        # Integers beyond 64 bits, and what must be refused with a reason.
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        text.encode()
    if "\\u0000" in text and "\0" in json.dumps(value, ensure_ascii=False).encode().decode("unicode_escape", "replace"):
        raise ValueError("text holds a NUL character")
    return text


def parse(text: str | bytes) -> Any:
    """Return the value of JSON text that is known to be good, such as our own."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return json.loads(text)


def digest(value: Any) -> str:
    """Return the SHA-256 of the canonical text of `value`, in hexadecimal."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()
