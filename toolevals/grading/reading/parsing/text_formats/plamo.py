"""Reads the calls of PLaMo 3: name and arguments in JSON between special tokens. Grammar: vLLM's parser `plamo3`."""

from __future__ import annotations

import re
from typing import Final

from toolevals.grading.reading.parsing.text_formats.source import Found, Source, TextFormat

_HEAD: Final = re.compile(
    r"(?P<name>[^\s<{]{1,200})<\|plamo:end_tool_name:plamo\|>\s*<\|plamo:begin_tool_arguments:plamo\|>"
    r"(?:<\|plamo:constrain\|>json)?(?:<\|plamo:msg\|>)?\s*"
)
_END: Final = re.compile(r"\s*(?:<\|plamo:end_tool_(?:arguments|request|requests):plamo\|>\s*)*")


def _read(source: Source, match: re.Match[str]) -> Found:
    head = _HEAD.match(source.text, match.end())
    if head is None:
        return (source.malformed("no name and arguments follow the mark of a call", match.start()),), match.end()
    calls, end = source.json_call(head["name"], head.end(), match.start())
    closed = _END.match(source.text, end)
    return calls, closed.end() if closed else end


PLAMO = TextFormat(
    "plamo",
    "PLaMo 3",
    r"(?:<\|plamo:begin_tool_requests?:plamo\|>\s*){0,2}<\|plamo:begin_tool_name:plamo\|>"
    r"|<\|plamo:begin_tool_requests?:plamo\|>",
    _read,
    "<|plamo:begin_tool_name:plamo|>f<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|>"
    '<|plamo:constrain|>json<|plamo:msg|>{"a": 1}<|plamo:end_tool_arguments:plamo|>',
)
