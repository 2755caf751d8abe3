"""Reads the actions of ReAct and its relatives, and Command R's `Action:` before a list in JSON.

`Action: f` and `Action Input: {...}` (LangChain, LlamaIndex), `Action: f[x]` (the paper), `Action: f(a=1)`, and JSON
behind `Action:` (Command R, LangChain's structured chat, smolagents). Other input is
the tool's only parameter.
"""

from __future__ import annotations

import re
from typing import Final

from toolevals.grading.reading.parsing.python_calls import UnreadableCallError, calls_in_python
from toolevals.grading.reading.parsing.text_formats.pieces import json_calls_at
from toolevals.grading.reading.parsing.text_formats.source import Found, Source, TextFormat, typed_arguments
from toolevals.grading.values import Call, ToolCall

_FENCED: Final = re.compile(r"\s*```(?:json)?\s*")
_LINE: Final = re.compile(r"[ \t]*(?P<line>[^\n]{0,2000})")
_INPUT: Final = re.compile(r"\s{0,20}\*{0,2}Action[ _]Input\*{0,2}[ \t]{0,9}:\*{0,2}[ \t]*", re.IGNORECASE)
_NEXT: Final = re.compile(
    r"^[ \t]{0,20}\*{0,2}(?:Observation|Thought|Action|Final Answer)\*{0,2}[ \t]{0,9}:|<\|\w{1,40}\|>", re.MULTILINE
)
# What an agent says in its tool's place.
OBSERVED: Final = re.compile(r"\s{0,20}(?:```)?\s{0,20}\*{0,2}Observation\*{0,2}[ \t]{0,9}:\*{0,2}\s*\S", re.IGNORECASE)
_SUBSCRIPT: Final = re.compile(r"(?P<name>[\w.-]{1,200})\[(?P<given>.*)\]", re.DOTALL)
_NOTHING: Final = frozenset({"", "none", "null", "n/a"})
_NO_ACTION: Final = frozenset({"", "none", "n/a", "final answer", "finish"})


def _read(source: Source, match: re.Match[str]) -> Found:
    text, place = source.text, source.skip(match.end())
    if fenced := _FENCED.match(text, match.end()):
        return json_calls_at(source, fenced.end(), match.start())
    if text[place : place + 1] in {"{", "["} and text[place + 1 : place + 3].strip(" \n")[:1] in {'"', "{", "]", ""}:
        return json_calls_at(source, place, match.start())
    line = _LINE.match(text, match.end())
    written = line["line"].strip() if line else ""
    name, end = written.strip("*`'\" "), line.end() if line else match.end()
    if given := _INPUT.match(text, end):
        return _with_input(source, name, given.end(), match.start())
    if name.casefold() in _NO_ACTION:
        return (), end
    if source.offered.known and source.offered.has(name):
        return (ToolCall(name, {}),), end
    called = _written_call(source, name, match.start())
    return ((called,), end) if called is not None else ((), match.end())


def _with_input(source: Source, name: str, place: int, start: int) -> Found:
    following = source.search(_NEXT, place)
    end = following.start() if following else len(source.text)
    if name.casefold() in _NO_ACTION and not source.offered.find(name):
        return (), end
    given = source.text[place:end].strip()
    if fenced := _FENCED.match(given):
        given = given[fenced.end() :].removesuffix("```").strip()
    if given.casefold() in _NOTHING:
        return (ToolCall(name, {}),), end
    if given.startswith("{"):
        begin = source.text.index("{", place)
        calls, stop = source.json_call(name, begin, start)
        return calls, max(stop, end) if stop == begin else stop
    return (_only(source, name, given.strip("\"'"), start),), end


def _only(source: Source, name: str, given: str, start: int) -> Call:
    """Return the call of a tool whose only parameter is this text."""
    tool = source.offered.find(name)
    properties = tool.input_schema.get("properties") if tool is not None else None
    if not isinstance(properties, dict) or len(properties) != 1:
        return source.malformed("the input is not an object in JSON, and the tool does not take just one", start, name)
    return ToolCall(name, typed_arguments({next(iter(properties)): given}, name, source.offered))


def _written_call(source: Source, written: str, start: int) -> Call | None:
    """Return the call of an offered tool that a line holds as `f(a=1)` or `f[x]`; None where it holds none."""
    name = re.split(r"[(\[]", written, maxsplit=1)[0]
    if name == written or not source.offered.known or not source.offered.has(name):
        return None
    if subscript := _SUBSCRIPT.fullmatch(written):
        return _only(source, name, subscript["given"].strip().strip("\"'"), start)
    try:
        calls = calls_in_python(written)
    except UnreadableCallError as error:
        return source.malformed(error.reason, start, name)
    return calls[0] if calls else source.malformed("not a call", start, name)


REACT = TextFormat(
    "react",
    "ReAct, Command R",
    # At the beginning of a line, or right behind a thought.
    r"(?:(?m:^)|(?<=[>\]▷]))[ \t]{0,20}\*{0,2}Action\*{0,2}[ \t]{0,9}:\*{0,2}",
    _read,
    'Action: f\nAction Input: {"a": 1}',
)
