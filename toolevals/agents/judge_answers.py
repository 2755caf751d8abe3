"""Finds a judge's own answer in what it said: the last JSON object that it did not quote."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument

_LONGEST_ANSWER = 200_000
# Braces that begin no object are passed over, but not without end: each costs a look at what follows.
_MOST_BROKEN = 200
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"\s+")
# Marks that open a quotation, and the one that closes each.
_QUOTES = {'"': '"', "'": "'", "`": "`", "\u201c": "\u201d", "\u2018": "\u2019", "\u00ab": "\u00bb", "\u201e": "\u201c"}


def answer_in(text: str, inputs: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the last JSON object that a judge states itself: alone, in a fence, or amid prose. Raises InvalidDocument.

    An object in quotation marks, in a quoted line (`> ...`), or word for word in the judge's `inputs` is a quotation of
    what it judges, unless it is all that the judge said.
    """
    if len(text) > _LONGEST_ANSWER:
        raise InvalidDocument.at("", f"longer than {_LONGEST_ANSWER:,} characters")
    if text.lstrip().startswith("{") and (whole := _object_alone(text)) is not None:
        return whole
    given = _squeezed("\n".join(_texts(inputs)))
    objects = list(_objects(text))
    own = [(begin, end) for begin, end in objects if not _is_quoted(text, begin, end, given)]
    if own:
        begin, end = own[-1]
        return _read(text[begin:end])
    if objects:
        raise InvalidDocument.at("", "the only JSON object is a quotation of what is judged")
    begin, end = text.find("{"), text.rfind("}")
    return _read(text[begin : end + 1] if 0 <= begin < end else text.strip())


def _object_alone(text: str) -> dict[str, Any] | None:
    """Return the value of a text that is one JSON object and nothing else, None for any other text."""
    try:
        found = load_json(text.strip())
    except InvalidDocument:
        return None
    return found if isinstance(found, dict) else None


def _read(text: str) -> dict[str, Any]:
    found = load_json(text)
    if not isinstance(found, dict):
        raise InvalidDocument.at("", "not a JSON object")
    return found


def _objects(text: str) -> Iterator[tuple[int, int]]:
    """Yield begin and end of each JSON object that stands in no other one."""
    begin, broken = text.find("{"), 0
    while begin >= 0 and broken < _MOST_BROKEN:
        try:
            _, end = _DECODER.raw_decode(text, begin)
            yield begin, end
        except (ValueError, RecursionError):
            broken += 1
            end = begin + 1
        begin = text.find("{", end)


def _is_quoted(text: str, begin: int, end: int, given: str) -> bool:
    line = text[text.rfind("\n", 0, begin) + 1 : begin]
    before, after = text[:begin].rstrip(" \t"), text[end:].lstrip(" \t")
    marked = bool(before and after) and _QUOTES.get(before[-1]) == after[0] and not before.endswith("```")
    return marked or line.lstrip().startswith(">") or _squeezed(text[begin:end]) in given


def _squeezed(text: str) -> str:
    return _SPACE.sub("", text)


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts in a value, however deep, and the value of each object as JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield json.dumps(value, ensure_ascii=False, default=str)
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)
