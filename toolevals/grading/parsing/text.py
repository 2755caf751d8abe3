"""Calls in raw text: JSON first, then Python's call syntax, alone, in fences or tags, or amid prose.

Text that nobody meant as a call has none. Text that was meant as one and cannot be read is one MalformedCall.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from toolevals.grading.documents import load_json
from toolevals.grading.parsing.json_calls import LONGEST_SHOWN, calls_in_json
from toolevals.grading.parsing.python_calls import MAX_NESTING, UnreadableCallError, calls_in_python
from toolevals.grading.problems import InvalidDocument
from toolevals.grading.values import Call, MalformedCall

MAX_LENGTH = 1_000_000
# How many places of running text are tried: the cost stays linear.
_MOST_TRIES = 64

_FENCE = re.compile(r"```[ \t]*([A-Za-z_]*)[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_TAG = re.compile(r"<(tool_?call|function_?call)>(.*?)(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_JSON_ATTEMPT = re.compile(r'\s*\[?\s*\{\s*"(?:name|function|type|tool_calls|id)"\s*:')
_PYTHON_ATTEMPT = re.compile(r"[\[(]*\s*[A-Za-z_][\w.]*\s?\(\s*(?:[A-Za-z_]\w*\s*=|\)|\*)")
_PYTHON_LIST = re.compile(r"\[\s*[A-Za-z_][\w.]*\s*\(")
_PYTHON_LINE = re.compile(r"^[ \t]*([A-Za-z_][\w.]*\((?:[A-Za-z_]\w*\s*=.*)?\))[ \t]*;?[ \t]*$", re.MULTILINE)
_ARGUMENTS_KEY = re.compile(r'"(?:arguments|parameters|input|args)"\s*:')


@dataclass(frozen=True, slots=True)
class _Piece:
    """Part of the text that may be calls. `marked` says that fences or tags set it apart."""

    text: str
    marked: bool


def calls_in_text(text: str) -> tuple[Call, ...]:
    """Return the calls of a model's raw text, in order; none where it is prose."""
    if len(text) > MAX_LENGTH:
        return (MalformedCall(f"longer than {MAX_LENGTH:,} characters", MAX_LENGTH, text[:LONGEST_SHOWN]),)
    pieces = [piece for piece in _pieces(text) if piece.text]
    for piece in pieces:
        if (calls := _read(piece)) is not None:
            return calls
    if calls := _amid_prose(text):
        return calls
    attempts = (_attempt(piece) for piece in pieces)
    return next(((attempt,) for attempt in attempts if attempt is not None), ())


def _pieces(text: str) -> Iterator[_Piece]:
    for pattern in (_TAG, _FENCE):
        found = list(islice(pattern.finditer(text), _MOST_TRIES))
        if len(found) > 1:
            yield _Piece("\n".join(match.group(2).strip() for match in found), marked=True)
        yield from (_stripped(match.group(2), marked=True) for match in found)
    yield _stripped(text, marked=False)


def _stripped(text: str, *, marked: bool) -> _Piece:
    inner = text.strip()
    if len(inner) > 1 and inner[0] == inner[-1] == "`":
        inner = inner.strip("`").strip()
    return _Piece(inner, marked)


def _read(piece: _Piece) -> tuple[Call, ...] | None:
    for line_by_line in (False, True):
        if (calls := _read_json(piece.text, line_by_line)) is not None:
            return calls
    try:
        return calls_in_python(piece.text)
    except UnreadableCallError:
        return None


def _read_json(text: str, line_by_line: bool) -> tuple[Call, ...] | None:
    if not text.startswith(("{", "[")):
        return None
    texts = [line for line in text.splitlines() if line.strip()] if line_by_line else [text]
    try:
        read = [calls_in_json(load_json(each)) for each in texts]
    except InvalidDocument:
        return None
    return None if None in read else tuple(call for calls in read if calls is not None for call in calls)


def _amid_prose(text: str) -> tuple[Call, ...]:
    return _json_amid_prose(text) or _python_amid_prose(text)


def _json_amid_prose(text: str) -> tuple[Call, ...]:
    calls: list[Call] = []
    place, tries = 0, 0
    starts = re.compile(r"[\[{]")
    while (match := starts.search(text, place)) is not None and tries < _MOST_TRIES:
        tries += 1
        place = match.start() + 1
        try:
            _, end = json.JSONDecoder().raw_decode(text, match.start())
            found = calls_in_json(load_json(text[match.start() : end]))
        except (ValueError, RecursionError):
            continue
        if found is not None:
            calls.extend(found)
            place = end
    return tuple(calls)


def _python_amid_prose(text: str) -> tuple[Call, ...]:
    for match in islice(_PYTHON_LIST.finditer(text), _MOST_TRIES):
        end = _closing(text, match.start())
        if end is not None and (calls := _python_or_none(text[match.start() : end])):
            return calls
    lines = [match.group(1) for match in islice(_PYTHON_LINE.finditer(text), _MOST_TRIES)]
    return tuple(call for line in lines for call in _python_or_none(line) or ())


def _python_or_none(text: str) -> tuple[Call, ...] | None:
    try:
        return calls_in_python(text)
    except UnreadableCallError:
        return None


def _closing(text: str, start: int) -> int | None:
    """Return the end of the bracket that opens at `start`, quotes respected; None where none closes it in reach."""
    depth, quote, place = 0, "", start
    while place < len(text):
        character = text[place]
        if quote:
            if character == "\\":
                place += 1
            elif character == quote:
                quote = ""
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
            if depth > MAX_NESTING:
                return None
        elif character in ")]}":
            depth -= 1
            if depth == 0:
                return place + 1
        place += 1
    return None


def _attempt(piece: _Piece) -> MalformedCall | None:
    """Return what was meant as a call and cannot be read; None where nothing was meant."""
    if _JSON_ATTEMPT.match(piece.text) and _ARGUMENTS_KEY.search(piece.text):
        return _malformed_json(piece)
    if _PYTHON_ATTEMPT.match(piece.text):
        try:
            calls_in_python(piece.text)
        except UnreadableCallError as error:
            return MalformedCall(error.reason, error.position, piece.text[:LONGEST_SHOWN])
    if piece.marked and _JSON_ATTEMPT.match(piece.text):
        return _malformed_json(piece)
    return None


def _malformed_json(piece: _Piece) -> MalformedCall:
    shown = piece.text[:LONGEST_SHOWN]
    try:
        load_json(piece.text)
    except InvalidDocument as error:
        return MalformedCall(str(error), error.position, shown)
    return MalformedCall("not a call", 0, shown)
