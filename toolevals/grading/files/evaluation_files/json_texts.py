"""Finds JSON objects that stand one after another in a text, such as tools in a prompt."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

_DECODER = json.JSONDecoder()
_MOST = 500


def objects_in(text: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of JSON in a text, in order, those inside of others with them."""
    place = text.find("{")
    for _ in range(_MOST):
        if place < 0:
            return
        try:
            value, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            if isinstance(value, dict):
                yield value
        place = text.find("{", end)
