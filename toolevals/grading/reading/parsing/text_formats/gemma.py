"""Reads the calls of FunctionGemma and Gemma 4: `call:NAME{key:value}`, keys bare, texts between marks of their own.

Grammar: vLLM's parsers `functiongemma` and `gemma4`. A text of FunctionGemma gets the type of the tool's schema where
that does not take texts.
"""

from __future__ import annotations

import re
from typing import Any, Final

from toolevals.grading.reading.parsing.text_formats.source import Found, Source, TextFormat, typed_arguments
from toolevals.grading.values import ToolCall
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonObject

_MOST_LEVELS: Final = 50
_NAME: Final = re.compile(r"\s*call:\s*(?P<name>[\w.:/-]{1,200})\s*\{")
_KEY: Final = re.compile(r"\s*(?:<escape>|<\|\"\|>|\")?(?P<key>[^:{}\[\]<>\"]{1,200}?)(?:<escape>|<\|\"\|>|\")?\s*:\s*")
_TEXTS: Final = {
    "<escape>": re.compile("<escape>"), '<|"|>': re.compile(re.escape('<|"|>')), '"': re.compile(r'(?<!\\)"'),
}  # fmt: skip
_BARE: Final = re.compile(r"[^,\]}<{\[]{1,2000}")
_END: Final = re.compile(r"\s*(?:<end_function_call>|<tool_call\|>)?")
_POINT_LAST: Final = re.compile(r"-?\d{1,15}\.")


class _UnreadableError(ValueError):
    """Text that is no value."""


def _read(source: Source, match: re.Match[str]) -> Found:
    named = _NAME.match(source.text, match.end())
    if named is None:
        return (source.malformed("no call:NAME{...} follows", match.start()),), match.end()
    try:
        arguments, end = _object(source, named.end(), 1)
    except _UnreadableError as error:
        return (source.malformed(str(error), match.start(), named["name"]),), named.end()
    texts = {key: value for key, value in arguments.items() if isinstance(value, str)}
    if source.offered.find(named["name"]):
        arguments |= typed_arguments(texts, named["name"], source.offered)
    closed = _END.match(source.text, end)
    return (ToolCall(named["name"], arguments),), closed.end() if closed else end


def _object(source: Source, place: int, level: int) -> tuple[JsonObject, int]:
    made: JsonObject = {}
    place = source.skip(place)
    while source.text[place : place + 1] != "}":
        key = _KEY.match(source.text, place)
        if key is None:
            raise _UnreadableError("no key and colon where an argument should be")
        name = key["key"].strip()
        if name in made:
            raise _UnreadableError(f"the argument {name} is given twice")
        made[name], place = _value(source, key.end(), level)
        place = _behind_comma(source, place, "}")
    return made, place + 1


def _list(source: Source, place: int, level: int) -> tuple[list[Any], int]:
    made: list[Any] = []
    place = source.skip(place)
    while source.text[place : place + 1] != "]":
        value, place = _value(source, place, level)
        made.append(value)
        place = _behind_comma(source, place, "]")
    return made, place + 1


def _behind_comma(source: Source, place: int, closing: str) -> int:
    place = source.skip(place)
    if source.text[place : place + 1] == ",":
        return source.skip(place + 1)
    if source.text[place : place + 1] != closing:
        raise _UnreadableError(
            "the text ends within this call" if place >= len(source.text) else "not a list of values"
        )
    return place


def _value(source: Source, place: int, level: int) -> tuple[Any, int]:
    if level > _MOST_LEVELS:
        raise _UnreadableError(f"nested deeper than {_MOST_LEVELS} levels")
    for mark, pattern in _TEXTS.items():
        if source.text.startswith(mark, place):
            ended = source.search(pattern, place + len(mark))
            if ended is None:
                raise _UnreadableError("the text ends within this call")
            return source.text[place + len(mark) : ended.start()], ended.end()
    if source.text[place : place + 1] == "{":
        return _object(source, place + 1, level + 1)
    if source.text[place : place + 1] == "[":
        return _list(source, place + 1, level + 1)
    return _bare(source, place)


def _bare(source: Source, place: int) -> tuple[Any, int]:
    """Return the value of a text without marks: nothing at all is an empty text."""
    if source.text[place : place + 1] in {",", "}"}:
        return "", place
    bare = _BARE.match(source.text, place)
    if bare is None:
        raise _UnreadableError("no value where one should be")
    text = bare.group().strip()
    if _POINT_LAST.fullmatch(text):
        return float(text), bare.end()
    try:
        return load_json(text), bare.end()
    except InvalidDocument:
        return {"None": None, "nil": None, "True": True, "False": False}.get(text, text), bare.end()


GEMMA = TextFormat(
    "gemma",
    "FunctionGemma, Gemma 4",
    r"<start_function_call>|<\|tool_call>",
    _read,
    "<start_function_call>call:f{a:1,b:<escape>x<escape>}<end_function_call>",
)
