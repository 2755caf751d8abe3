"""Reads the calls of Kimi K2: `functions.NAME:INDEX` and arguments in JSON.

Grammar: docs/tool_call_guidance.md of moonshotai/Kimi-K2-Instruct.
"""

from __future__ import annotations

import re
from typing import Final

from toolevals.grading.reading.parsing.text_formats.source import Found, Source, TextFormat

_HEAD: Final = re.compile(r"\s*(?P<id>[^\s<{]{1,200})\s*<\|tool_call_argument_begin\|>\s*")
_END: Final = re.compile(r"\s*(?:<\|tool_call(?:s_section)?_end\|>\s*)*")
_NUMBER: Final = re.compile(r":\d{1,9}\Z")


def _read(source: Source, match: re.Match[str]) -> Found:
    head = _HEAD.match(source.text, match.end())
    if head is None:
        return (source.malformed("no name and arguments follow the mark of a call", match.start()),), match.end()
    identifier = head["id"]
    name = _NUMBER.sub("", identifier).removeprefix("functions.")
    calls, end = source.json_call(name, head.end(), match.start(), identifier)
    closed = _END.match(source.text, end)
    return calls, closed.end() if closed else end


KIMI = TextFormat(
    "kimi",
    "Kimi K2",
    r"(?:<\|tool_calls_section_begin\|>\s*)?<\|tool_call_begin\|>|<\|tool_calls_section_begin\|>",
    _read,
    '<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|>',
)
