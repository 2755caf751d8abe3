"""Reads the calls of MiniMax M3: XML with a token before each tag, and a tag for each argument, nested as its value is.

An element within which tags stand is an object, or a list where the schema says so or all are `item`; what has none is
a text that the schema types. Grammar: SGLang's parser `minimax_m3`.
"""

from __future__ import annotations

import re
from typing import Any, Final

from toolevals.grading.reading.parsing.text_formats.source import Found, Source, TextFormat
from toolevals.grading.reading.parsing.text_formats.typed_text import part_of, typed
from toolevals.grading.values import ToolCall

_MOST_LEVELS: Final = 50
_MARK: Final = r"\]<\]minimax\[>\["
_OPEN: Final = re.compile(rf"\s*{_MARK}\s*<(?P<tag>[^<>/\"\s]{{1,200}})>")
_END: Final = re.compile(rf"\s*{_MARK}\s*</invoke>")
_NEXT: Final = re.compile(_MARK)
_CLOSE: Final = re.compile(rf"{_MARK}\s*</(?P<tag>[^<>]{{1,200}})>")


class _UnreadableError(ValueError):
    """An element without an end."""


def _read(source: Source, match: re.Match[str]) -> Found:
    name = match["m3_name"]
    if name is None:
        return (source.malformed("no invocation follows the mark of a call", match.start()),), match.end()
    tool = source.offered.find(name)
    root = tool.input_schema if tool is not None else {}
    try:
        arguments, place = _children(source, match.end(), root, root, 1)
    except _UnreadableError as error:
        return (source.malformed(str(error), match.start(), name),), match.end()
    ended = _END.match(source.text, place)
    if ended is None or not isinstance(arguments, dict):
        return (source.malformed("the text ends within this call, or is none", match.start(), name),), match.end()
    return (ToolCall(name, arguments),), ended.end()


def _children(source: Source, place: int, schema: Any, root: Any, level: int) -> tuple[Any, int]:
    """Return the value whose elements stand here: an object, or a list."""
    if level > _MOST_LEVELS:
        raise _UnreadableError(f"nested deeper than {_MOST_LEVELS} levels")
    made: list[tuple[str, Any]] = []
    kind = schema.get("type") if isinstance(schema, dict) else None
    while opened := _OPEN.match(source.text, place):
        tag = opened["tag"]
        value, place = _element(source, opened.end(), part_of(schema, tag), root, level)
        closed = _CLOSE.match(source.text, place)
        if closed is None or closed["tag"] != tag:
            raise _UnreadableError(f"the argument {tag} has no end")
        made.append((tag, value))
        place = closed.end()
    if level > 1 and (kind == "array" or (kind != "object" and all(tag == "item" for tag, _ in made))):
        return [value for _, value in made], place
    if len({tag for tag, _ in made}) < len(made):
        raise _UnreadableError("an argument is given twice")
    return dict(made), place


def _element(source: Source, place: int, schema: Any, root: Any, level: int) -> tuple[Any, int]:
    if _OPEN.match(source.text, place):
        value, place = _children(source, place, schema, root, level + 1)
        return value, source.skip(place)
    following = source.search(_NEXT, place)
    stop = following.start() if following else len(source.text)
    return typed(source.text[place:stop], schema, root), stop


MINIMAX_M3 = TextFormat(
    "minimax_m3",
    "MiniMax M3",
    rf"(?:{_MARK}\s*<tool_call>\s*)?{_MARK}\s*<invoke\s+name=\"(?P<m3_name>[^\"<>]{{1,200}})\">"
    rf"|{_MARK}\s*<tool_call>",
    _read,
    ']<]minimax[>[<tool_call>]<]minimax[>[<invoke name="f">]<]minimax[>[<a>1]<]minimax[>[</a>]<]minimax[>[</invoke>',
)
