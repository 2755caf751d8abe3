"""Write a JSON value for pages: as indented lines, keys aligned, without braces; or as text, as it was written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from labeling.conversation.picks import Picks, Segment, segments
from toolevals.grading.values.canonical import exact
from toolevals.json_types import JsonObject

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)
# Beyond this, indenting would be most of the text.
MAX_INDENT = 40


MAX_DEPTH = 12


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


@dataclass(frozen=True, slots=True)
class Line:
    """One line: the key with its indentation and padding, then the value."""

    key: str
    parts: tuple[Segment, ...] = ()


def lines(value: Any, picks: Picks) -> tuple[Line, ...]:
    """Return a value's lines. A string that holds a JSON object or list is shown as what it holds."""
    return tuple(_lines(unpacked(value), picks, indent=""))


def unpacked(value: Any) -> Any:
    """Return the object or list that a string holds as JSON, else the value itself."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            # Amounts are shown as they were written: 98.00.
            return json.loads(value, parse_float=Decimal)
        except (ValueError, RecursionError):
            return value
    return value


def _lines(value: Any, picks: Picks, *, indent: str, head: str = "") -> Iterator[Line]:
    if isinstance(value, dict) and value and len(indent) < MAX_DEPTH * 2:
        yield from _object(value, picks, indent=indent, head=head)
    elif isinstance(value, list) and value and len(indent) < MAX_DEPTH * 2:
        yield from _list(value, picks, indent=indent, head=head)
    else:
        yield Line(head or indent, _scalar(value, picks))


def _object(value: JsonObject, picks: Picks, *, indent: str, head: str) -> Iterator[Line]:
    width = (
        min(max(len(str(key)) for key, inner in value.items() if not _nests(inner)), 20)
        if any(not _nests(inner) for inner in value.values())
        else 0
    )
    for number, (key, inner) in enumerate(value.items()):
        start = head if head and number == 0 else " " * len(head) if head else indent
        if _nests(inner):
            yield Line(f"{start}{key}")
            yield from _lines(inner, picks, indent=" " * (len(start) + 2))
        else:
            yield Line(f"{start}{key:<{width}}  ", _scalar(inner, picks))


def _list(value: Sequence[Any], picks: Picks, *, indent: str, head: str) -> Iterator[Line]:
    if not any(_nests(inner) for inner in value):
        parts: list[Segment] = []
        for number, inner in enumerate(value):
            parts += [Segment(", ")] if number else []
            parts += _scalar(inner, picks)
        yield Line(head or indent, tuple(parts))
        return
    for number, inner in enumerate(value, start=1):
        yield from _lines(inner, picks, indent=indent, head=f"{head or indent}{number}  ")
        head = " " * len(head)


def _nests(value: Any) -> bool:
    return isinstance(value, dict | list) and bool(value)


def _scalar(value: Any, picks: Picks) -> tuple[Segment, ...]:
    if isinstance(value, str):
        short = len(value) <= 48 and "\n" not in value and not _is_sentence(value)
        if short and value and picks.add(value):
            return (Segment(value, picks),)
        return segments(value, picks)
    text = str(value) if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False)
    pickable = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    return (Segment(text, picks),) if pickable and picks.add(text) else (Segment(text),)


def _is_sentence(text: str) -> bool:
    """Tell whether a text says something, and is no value as a whole: its parts may be."""
    words = text.split()
    return len(words) > 2 and (text[-1] in ".!?…" or (len(words) > 4 and not any(map(str.isdigit, text))))
