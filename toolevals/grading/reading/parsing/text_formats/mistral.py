"""Reads the calls of Mistral's models: `[TOOL_CALLS]` before a list in JSON, or before `name[ARGS]{...}`.

Grammar: vLLM's parser `mistral`, for tokenizers of versions before and since 11.
"""

from __future__ import annotations

import re
from typing import Final

from toolevals.grading.reading.parsing.text_formats.pieces import json_calls_at
from toolevals.grading.reading.parsing.text_formats.source import Found, Source, TextFormat
from toolevals.grading.values import Call

_NAMED: Final = re.compile(
    r"\s*,?\s*(?P<name>[\w.:/-]{1,200})\s*(?:\[CALL_ID\]\s*(?P<id>[\w-]{1,100})\s*)?(?:\[ARGS\]\s*|(?=\{))"
)


def _read(source: Source, match: re.Match[str]) -> Found:
    place = source.skip(match.end())
    if source.text[place : place + 1] in {"[", "{"}:
        return json_calls_at(source, place, match.start())
    calls: list[Call] = []
    end = match.end()
    while named := _NAMED.match(source.text, end):
        found, stop = source.json_call(named["name"], named.end(), named.start("name"), named["id"])
        calls += found
        end = stop
        if stop == named.end():
            break
    if calls:
        return tuple(calls), end
    return (source.malformed("neither a list in JSON nor name[ARGS]{...} follows", match.start()),), match.end()


MISTRAL = TextFormat(
    "mistral",
    "Mistral, Magistral, Devstral",
    # The arguments' mark alone, where the mark before the name was dropped.
    r"\[TOOL_CALLS\]|(?<![\w.:/-])(?=[\w.:/-]{1,200}(?:\[CALL_ID\][\w-]{1,100})?\[ARGS\])",
    _read,
    '[TOOL_CALLS]f[ARGS]{"a": 1}',
)
