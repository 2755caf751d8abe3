"""Finds calls in raw text: JSON first, then Python's call syntax, alone, in fences or tags, or amid prose.

Text that no one meant as a call has none. Text that was meant as one and cannot be read is one MalformedCall.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import islice

from toolevals.grading.reading.parsing.json_calls import LONGEST_SHOWN, calls_in_json, describes_tools, printable
from toolevals.grading.reading.parsing.python_calls import calls_in_python
from toolevals.grading.reading.parsing.python_source import MAX_NESTING, UnreadableCallError, brackets
from toolevals.grading.values import Call, MalformedCall
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.transcripts import MOST_CALLS

MAX_LENGTH = 1_000_000
# How many places of running text are tried: the cost stays linear.
_MOST_TRIES = 64
_MOST_STARTS = 512

# What comes before a fence's content is its language, unless it is the content itself.
_FENCE = re.compile(r"```(?:[ \t]*[A-Za-z_]\w*(?=[\s\[{]))?(?P<inside>.*?)(?:```|\Z)", re.DOTALL)
_TAG = re.compile(
    r"<(?P<tag>tool_?calls?|function_?calls?)>(?P<inside>.*?)(?:</(?P=tag)>|\Z)", re.DOTALL | re.IGNORECASE
)
# Marks that models put around a call: <|python_tag|>, <|eom_id|>.
_MARK = re.compile(r"<\|\w{1,40}\|>")
_MOST_MARKS = 8
_JSON_START = re.compile(r'\{\s*"|\[\s*\{')
_DECODER = json.JSONDecoder()
_JSON_ATTEMPT = re.compile(r'\s*\[?\s*\{\s*"(?:name|function|type|tool_calls|id)"\s*:')
_PYTHON_ATTEMPT = re.compile(r"[\[(]*\s*[A-Za-z_][\w.-]*\s?\(\s*(?:[A-Za-z_]\w*\s*=|\)|\*)")
_PYTHON_LIST = re.compile(r"\[\s*[A-Za-z_][\w.-]*\s*\(")
_PYTHON_LINE = re.compile(r"[A-Za-z_][\w.-]*\((?:[A-Za-z_]\w*\s*=.*)?\)", re.DOTALL)
# So alike to a call that it was meant as one, even amid prose: in JSON, as a dict of Python, or without quotes.
_JSON_AMID = re.compile(
    r"""\{\s*["']?(?:name|function)["']?\s*:\s*(?:"[^"\n]{1,200}"|'[^'\n]{1,200}'|[\w.-]{1,200})\s*,\s*"""
    r"""["']?(?:arguments|parameters|input|args)["']?\s*:\s*(?:[{"'}]|\Z)"""
)
# What follows a call within a list that is cut off.
_NEXT_IN_LIST = re.compile(r"\s*,\s*\{")
_PYTHON_AMID = re.compile(r"\[\s*[A-Za-z_][\w.-]*\(\s*[A-Za-z_]\w*\s*=")
_XML_AMID = re.compile(r"<(?:function|invoke)\s+name\s*=|<function=\w")
_ARGUMENTS_KEY = re.compile(r'"(?:arguments|parameters|input|args)"\s*:')


@dataclass(frozen=True, slots=True)
class _Piece:
    """Part of the text that may be calls. `marked` says that fences or tags set it apart."""

    text: str
    marked: bool


def calls_in_text(text: str) -> tuple[Call, ...]:
    """Return the calls of a model's raw text, in order; none where it is prose.

    More of them than a transcript may have are one call that cannot be read.
    """
    calls = _calls_in_text(text)
    if len(calls) > MOST_CALLS:
        reason = f"{len(calls):,} calls, and a transcript has at most {MOST_CALLS:,}"
        return (MalformedCall(reason, None, printable(text[:LONGEST_SHOWN])),)
    return calls


def _calls_in_text(text: str) -> tuple[Call, ...]:
    if len(text) > MAX_LENGTH:
        return (MalformedCall(f"longer than {MAX_LENGTH:,} characters", MAX_LENGTH, printable(text[:LONGEST_SHOWN])),)
    # The whole text first: what looks like a fence may stand inside an argument.
    whole = _stripped(text, marked=False)
    if (calls := _read(whole)) is not None:
        return calls
    tagged, fenced = _pieces(_TAG, text), _pieces(_FENCE, text)
    for pattern, pieces in ((_TAG, tagged), (_FENCE, fenced)):
        if calls := _in_pieces(pieces):
            remains = _attempt_in_json(pattern.sub(" ", text))
            return calls if remains is None else (*calls, remains)
    if calls := _amid_prose(text):
        return calls
    attempts = (*map(_attempt, (*tagged, *fenced, whole)), _attempt_amid_prose(text), *map(_garbage, tagged))
    return next(((attempt,) for attempt in attempts if attempt is not None), ())


def _pieces(pattern: re.Pattern[str], text: str) -> list[_Piece]:
    return [_stripped(match["inside"], marked=True) for match in islice(pattern.finditer(text), _MOST_TRIES)]


def _in_pieces(pieces: list[_Piece]) -> tuple[Call, ...]:
    """Return the calls of pieces that fences or tags set apart, attempts among them; none where none can be read."""
    read = [_read(piece) for piece in pieces]
    if not any(read):
        return ()
    attempts = [None if calls else _attempt(piece) for calls, piece in zip(read, pieces, strict=True)]
    given = [calls or (() if attempt is None else (attempt,)) for calls, attempt in zip(read, attempts, strict=True)]
    return tuple(call for calls in given for call in calls)


def _garbage(piece: _Piece) -> MalformedCall | None:
    """Return what stands in a tag for calls and is none."""
    return MalformedCall("the text in the tag is not a call", 0, printable(piece.text[:LONGEST_SHOWN]))


def _stripped(text: str, *, marked: bool) -> _Piece:
    inner = _without_marks(text.strip())
    if len(inner) > 1 and inner[0] == inner[-1] == "`":
        inner = inner.strip("`").strip()
    return _Piece(inner, marked)


def _without_marks(text: str) -> str:
    for _ in range(_MOST_MARKS):
        if match := _MARK.match(text):
            text = text[match.end() :].lstrip()
        elif text.endswith("|>") and _MARK.fullmatch(text, start := max(text.rfind("<|"), 0)):
            text = text[:start].rstrip()
        else:
            break
    return text


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
    """Return the calls in JSON amid prose, and after them what remains, begins like one and cannot be read."""
    calls: list[Call] = []
    rest: list[str] = []
    kept = 0
    # What may still be read in vain.
    tries, characters, place = _MOST_STARTS, 16 * len(text), 0
    while tries and characters > 0 and (match := _JSON_START.search(text, place)):
        start = match.start()
        found, end = _json_at(text, start)
        if found is None:
            tries -= 1
            characters -= end - start
        if found is not None:
            calls.extend(found)
            rest.append(text[kept:start])
            kept = end
        place = start + 1 if found is None else end
    if not calls:
        return ()
    rest.append(text[kept:])
    attempts = (_attempt_in_json(part) for part in rest)
    remains = next((attempt for attempt in attempts if attempt is not None), None) or _cut_off(rest[-1])
    return tuple(calls) if remains is None else (*calls, remains)


def _attempt_in_json(text: str) -> MalformedCall | None:
    """Return the first thing that begins like a call in JSON and cannot be read."""
    place = 0
    for _ in range(_MOST_TRIES):
        match = _JSON_AMID.search(text, place)
        if match is None:
            return None
        if (attempt := _malformed_json(text[match.start() :])) is not None:
            return attempt
        place = match.end()
    return None


def _cut_off(rest: str) -> MalformedCall | None:
    """Return the next call of a list that ends within it."""
    if not _NEXT_IN_LIST.match(rest) or _closing(rest, rest.index("{")) is not None:
        return None
    begun = rest[rest.index("{") :]
    return MalformedCall("the text ends within this call", len(begun), printable(begun[:LONGEST_SHOWN]))


def _json_at(text: str, start: int) -> tuple[tuple[Call, ...] | None, int]:
    """Return the calls of the JSON value that begins here, None where there are none, and how far it was read."""
    try:
        _, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        return None, error.pos
    except (ValueError, RecursionError):
        return None, len(text)
    try:
        return calls_in_json(load_json(text[start:end])), end
    except InvalidDocument:
        return None, end


def _python_amid_prose(text: str) -> tuple[Call, ...]:
    for match in islice(_PYTHON_LIST.finditer(text), _MOST_TRIES):
        end = _closing(text, match.start())
        if end is not None and (calls := _python_or_none(text[match.start() : end])):
            return calls
    lines = (line.strip(" \t").removesuffix(";").rstrip(" \t") for line in text.splitlines())
    called = (line for line in lines if _PYTHON_LINE.fullmatch(line))
    calls = tuple(call for line in called for call in _python_or_none(line) or ())
    last = text.rstrip().rsplit("\n", 1)[-1].strip()
    if calls and _PYTHON_ATTEMPT.match(last) and _closing(last, last.index("(")) is None:
        return (*calls, MalformedCall("the text ends within this call", len(last), printable(last[:LONGEST_SHOWN])))
    return calls


def _python_or_none(text: str) -> tuple[Call, ...] | None:
    try:
        return calls_in_python(text)
    except UnreadableCallError:
        return None


def _closing(text: str, start: int) -> int | None:
    """Return the end of the bracket that opens at `start`, quotes respected; None where none closes it in reach."""
    depth = 0
    for place, bracket in brackets(text, start):
        depth += 1 if bracket in "([{" else -1
        if depth == 0:
            return place + 1
        if depth > MAX_NESTING:
            return None
    return None


def _attempt(piece: _Piece) -> MalformedCall | None:
    """Return what was meant as a call and cannot be read; None where nothing was meant."""
    if _JSON_ATTEMPT.match(piece.text) and _ARGUMENTS_KEY.search(piece.text):
        return _malformed_json(piece.text)
    if _PYTHON_ATTEMPT.match(piece.text) and (attempt := _malformed_python(piece.text)):
        return attempt
    if piece.marked and _JSON_ATTEMPT.match(piece.text):
        return _malformed_json(piece.text)
    return None


def _attempt_amid_prose(text: str) -> MalformedCall | None:
    if attempt := _attempt_in_json(text):
        return attempt
    if match := _PYTHON_AMID.search(text):
        return _malformed_python(text[match.start() : _closing(text, match.start())])
    if match := _XML_AMID.search(text):
        shown = printable(text[match.start() :][:LONGEST_SHOWN])
        return MalformedCall("calls in XML are not read: ask for JSON or for Python's call syntax", 0, shown)
    return None


def _malformed_python(text: str) -> MalformedCall | None:
    try:
        calls_in_python(text)
    except UnreadableCallError as error:
        return MalformedCall(error.reason, error.position, printable(text[:LONGEST_SHOWN]))
    return None


def _malformed_json(text: str) -> MalformedCall | None:
    """Return the call that begins here and cannot be read; None where a tool's description stands here."""
    try:
        _, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        end = len(text)
    try:
        value = load_json(text[:end])
    except InvalidDocument as error:
        return MalformedCall(str(error), error.position, printable(text[:LONGEST_SHOWN]))
    if describes_tools(value):
        return None
    return MalformedCall("not a call", 0, printable(text[:LONGEST_SHOWN]))
