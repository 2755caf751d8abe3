"""Reads a piece of text that may be calls as a whole: JSON first, then Python's call syntax."""

from __future__ import annotations

import json
import re
from typing import Final

from toolevals.grading.reading.parsing.json_calls import LONGEST_SHOWN, describes_tools, printable
from toolevals.grading.reading.parsing.python_calls import calls_in_python
from toolevals.grading.reading.parsing.python_source import UnreadableCallError
from toolevals.grading.reading.parsing.text_formats.pieces import calls_of
from toolevals.grading.values import Call, MalformedCall
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument

_DECODER: Final = json.JSONDecoder()
_JSON_ATTEMPT: Final = re.compile(r'\s*\[?\s*\{\s*"(?:name|function|type|tool_calls|id)"\s*:')
_PYTHON_ATTEMPT: Final = re.compile(r"[\[(]*\s*[A-Za-z_][\w.-]*\s?\(\s*(?:[A-Za-z_]\w*\s*=|\)|\*)")
_ARGUMENTS_KEY: Final = re.compile(r'"(?:arguments|parameters|input|args)"\s*:')


def calls_in_piece(text: str) -> tuple[Call, ...] | None:
    """Return the calls that a piece of text consists of; None where it is something else."""
    for line_by_line in (False, True):
        if (calls := _in_json(text, line_by_line)) is not None:
            return calls
    return python_or_none(text)


def python_or_none(text: str) -> tuple[Call, ...] | None:
    """Return the calls in Python's syntax that a text consists of; None where it is something else."""
    if "(" not in text:
        return None
    try:
        return calls_in_python(text)
    except UnreadableCallError:
        return None


def attempt_in(text: str, *, marked: bool) -> MalformedCall | None:
    """Return what was meant as a call and cannot be read; None where nothing was meant.

    `marked` says that a mark of calls stands before it.
    """
    if _JSON_ATTEMPT.match(text) and (marked or _ARGUMENTS_KEY.search(text)):
        return malformed_json(text)
    return malformed_python(text) if _PYTHON_ATTEMPT.match(text) else None


def malformed_python(text: str) -> MalformedCall | None:
    """Return the call in Python's syntax that begins here and cannot be read; None where it can."""
    try:
        calls_in_python(text)
    except UnreadableCallError as error:
        return MalformedCall(error.reason, error.position, printable(text[:LONGEST_SHOWN]))
    return None


def malformed_json(text: str) -> MalformedCall | None:
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


def _in_json(text: str, line_by_line: bool) -> tuple[Call, ...] | None:
    if not text.startswith(("{", "[")):
        return None
    texts = [line for line in text.splitlines() if line.strip()] if line_by_line else [text]
    try:
        read = [calls_of(load_json(each)) for each in texts]
    except InvalidDocument:
        return None
    return None if None in read else tuple(call for calls in read if calls is not None for call in calls)
