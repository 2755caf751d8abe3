"""Reads calls that tags or special tokens set apart: JSON or Python's syntax behind a mark.

Hermes, Qwen, ERNIE, LongCat (`<tool_call>`), Granite, Phi, Jamba, MiniMax M1, Hunyuan A13B (`<tool_calls>`), InternLM,
LFM2, openPangu, Llama, Nemotron, Olmo (`<function_calls>`), Apertus, GigaChat, Inkling, dots, RWKV, HyperCLOVA X,
Gemma 3 (a fence `tool_code`). Grammar: the parsers of vLLM and SGLang of these names, and their tests.
"""

from __future__ import annotations

import re
from typing import Final

from toolevals.grading.reading.parsing.json_calls import LONGEST_SHOWN, printable
from toolevals.grading.reading.parsing.text_formats.pieces import attempt_in, calls_in_piece, json_calls_at
from toolevals.grading.reading.parsing.text_formats.source import Found, Source, TextFormat
from toolevals.grading.reading.parsing.text_formats.xml_calls import PREFIX
from toolevals.grading.values import MalformedCall, ToolCall
from toolevals.grading.values.thoughts import MARKS

_TAGS: Final = r"(?:iquest_|dots_|longcat_)?(?:tool_?calls?|function_?calls?)"
# K2 Horizon begins the names of its tags with a word of its own, Hunyuan 4 ends them with one.
_BEFORE, _BEHIND = rf"(?:ifm\||{PREFIX})", r"(?::[\w.+-]{1,40})?"
_NAME: Final = r"[\w.:/-]{1,200}"
# What other readers begin at, and what stands in such a tag in their forms.
_INNER: Final = re.compile(
    rf"<{_BEFORE}(?:invoke|{_TAGS}|function|arg_key)\b|[\w.:/-]{{1,200}}(?:\\n|\s)*(?:<tool_sep{_BEHIND}>)?"
    rf"(?:\\n|\s)*<{_BEFORE}arg_key\b",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(rf"(?P<name>{_NAME})\s*(?=\{{)")
_ALONE: Final = re.compile(rf"(?P<name>[^\W\d][\w.:/-]{{0,199}})\s*(?:<tool_sep{_BEHIND}>)?")
_END: Final = re.compile(rf"</?(?i:{_BEFORE}(?:{_TAGS})){_BEHIND}>|</TOOLCALL>|<\|/?\w{{1,40}}\|>|```|{MARKS}")
_THOUGHT: Final = re.compile(MARKS)
_CLOSING: Final = re.compile(r"\s*(?:</[^<>\s]{1,60}>|<\|/?\w{1,40}\|>|```)")


def _read(source: Source, match: re.Match[str]) -> Found:
    text, place = source.text, source.skip(match.end())
    if text[match.start() - 1 : match.start()] == "`" == text[match.end() : match.end() + 1]:
        # It is only named.
        return (), match.end()
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
    if (alone := _ALONE.fullmatch(piece)) and closed and not thought:
        return (ToolCall(alone["name"], {}),), _behind_closing(text, stop)
    attempt = attempt_in(piece, marked=True) or MalformedCall(
        "the text in the tag is not a call", 0, printable(piece[:LONGEST_SHOWN])
    )
    return (attempt,), stop if thought else _behind_closing(text, stop)


def _behind_closing(text: str, place: int) -> int:
    closed = _CLOSING.match(text, place)
    return closed.end() if closed else place


TAGGED = TextFormat(
    "tagged",
    "Hermes, Qwen, Granite, Phi, Jamba, Hunyuan, MiniMax M1, InternLM, LFM2, Llama, Nemotron, Olmo, Apertus, GigaChat, "
    "Inkling, dots, RWKV, HyperCLOVA X",
    rf"<(?i:{_BEFORE}(?:{_TAGS})){_BEHIND}>|<[｜|]DSML[｜|] calls>|<TOOLCALL>|<\|(?:tool|function)_calls?(?:_start)?\|>"
    r"|<\|python_(?:tag|start)\|>|<\|content_invoke_tool_json\|>|function call<\|role_sep\|>"
    r"|\*\*Tool Call:\*\*\s{0,9}```(?:json)?|(?m:^\s{0,9}-> tool/)(?:function_call\b)?"
    r"|<\|action_start\|>(?:\s{0,9}<\|(?:plugin|interpreter)\|>)?|<\|tools_prefix\|>|(?<!\w)functools(?=\[)|```tool_code\b",
    _read,
    '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>',
)
