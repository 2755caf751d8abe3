"""Reads calls that tags or special tokens set apart: JSON or Python's syntax behind a mark.

Hermes, Qwen, ERNIE, LongCat (`<tool_call>`), Granite, Phi, Jamba, MiniMax M1, Hunyuan A13B (`<tool_calls>`), InternLM,
LFM2, Llama, Nemotron, Olmo (`<function_calls>`), Apertus, Gemma 3 (a fence `tool_code`).
"""

from __future__ import annotations

import re
from typing import Final

from toolevals.grading.reading.parsing.json_calls import LONGEST_SHOWN, printable
from toolevals.grading.reading.parsing.text_formats.piece_reading import attempt_in, calls_in_piece
from toolevals.grading.reading.parsing.text_formats.pieces import json_calls_at
from toolevals.grading.reading.parsing.text_formats.source import Found, Source, TextFormat
from toolevals.grading.reading.parsing.text_formats.xml_invocations import PREFIX
from toolevals.grading.values import MalformedCall, ToolCall
from toolevals.grading.values.thoughts import MARKS

_TAGS: Final = r"tool_?calls?|function_?calls?"
_NAME: Final = r"[\w.:/-]{1,200}"
# What other readers begin at, and what stands in such a tag in their forms.
_INNER: Final = re.compile(
    rf"<{PREFIX}(?:invoke|{_TAGS}|function)\b|<arg_key>|{_NAME}(?:\\n|\s)*(?:<tool_sep>)?(?:\\n|\s)*<arg_key>",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(rf"(?P<name>{_NAME})\s*(?=\{{)")
_ALONE: Final = re.compile(r"[^\W\d][\w.:/-]{0,199}")
_END: Final = re.compile(
    rf"</?(?i:{PREFIX}(?:{_TAGS}))>|</(?:TOOLCALL|longcat_tool_call)>|<\|/?\w{{1,40}}\|>|```|{MARKS}"
)
_THOUGHT: Final = re.compile(MARKS)
_CLOSING: Final = re.compile(r"\s*(?:</[^<>\s]{1,60}>|<\|/?\w{1,40}\|>|```)")


def _read(source: Source, match: re.Match[str]) -> Found:
    text, place = source.text, source.skip(match.end())
    if _INNER.match(text, place):
        return (), place
    if (end := source.json_end(place)) is not None:
        calls, end = json_calls_at(source, place, match.start())
        return calls, _behind_closing(text, end)
    if named := _NAMED.match(text, place):
        calls, end = source.json_call(named["name"], named.end(), match.start())
        return calls, _behind_closing(text, end)
    closing = source.search(_END, place)
    stop = closing.start() if closing else len(text)
    piece = text[place:stop].strip()
    # A thought that ends here began before the text: what it holds is no call.
    thought = closing is not None and _THOUGHT.match(closing.group()) is not None
    if (read := calls_in_piece(piece)) is not None:
        return read, stop if thought else _behind_closing(text, stop)
    closed = closing is None or closing.group().startswith(("</", "<|"))
    if _ALONE.fullmatch(piece) and closed and not thought:
        return (ToolCall(piece, {}),), stop if thought else _behind_closing(text, stop)
    attempt = attempt_in(piece, marked=True) or MalformedCall(
        "the text in the tag is not a call", 0, printable(piece[:LONGEST_SHOWN])
    )
    return (attempt,), stop if thought else _behind_closing(text, stop)


def _behind_closing(text: str, place: int) -> int:
    closed = _CLOSING.match(text, place)
    return closed.end() if closed else place


TAGGED = TextFormat(
    "tagged",
    "Hermes, Qwen, Granite, Phi, Jamba, Hunyuan, MiniMax M1, InternLM, LFM2, Llama, Nemotron, Olmo, Apertus",
    rf"<(?i:{PREFIX}(?:{_TAGS}))>|<TOOLCALL>|<longcat_tool_call>|<\|tool_calls?(?:_start)?\|>|<\|python_(?:tag|start)\|>"
    r"|<\|action_start\|>\s{0,9}<\|(?:plugin|interpreter)\|>|<\|tools_prefix\|>|(?<!\w)functools(?=\[)|```tool_code\b",
    _read,
    '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>',
)
