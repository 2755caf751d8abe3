"""Write a JSON value as indented text, exactly as it was written: numbers keep their digits, names their order."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from toolevals.grading.values.canonical import exact

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)
# Beyond this, indenting would be most of the text.
MAX_INDENT = 40


def pretty(value: Any) -> str:
    """Return an object or a list as indented JSON, one that a string holds included; "" for anything else."""
    text = value if isinstance(value, str) else ""
    if text.lstrip()[:1] in ("{", "["):
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return ""
    elif isinstance(value, dict | list):
        try:
            text = exact(value)
        except (ValueError, RecursionError):
            return ""
    else:
        return ""
    return "".join(_pieces(text))


def _pieces(text: str) -> Iterator[str]:
    depth, before = 0, ""
    for piece in TOKEN.findall(text):
        closes = piece in {"}", "]"}
        depth -= closes
        # An empty object or list stays on its line.
        if before == "," or (closes != (before in {"{", "["})):
            yield _line(depth)
        yield ": " if piece == ":" else piece
        depth += piece in {"{", "["}
        before = piece


def _line(depth: int) -> str:
    return "\n" + "  " * min(depth, MAX_INDENT)
