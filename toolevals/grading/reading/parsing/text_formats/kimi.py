"""Reads the calls of Kimi K2, `functions.NAME:INDEX` and arguments in JSON, and those of Kimi K3, key by key.

Grammar: the parsers of vLLM (`kimi_k2`) and of SGLang (`kimik2`, `kimik3`).
"""

from __future__ import annotations

import re
from typing import Final

from toolevals.grading.reading.parsing.text_formats.keyed import Keyed, read_keyed
from toolevals.grading.reading.parsing.text_formats.source import Found, Source, TextFormat

_HEAD: Final = re.compile(r"\s*(?P<id>[^\s<{]{1,200})\s*<\|tool_call_argument_begin\|>\s*")
_END: Final = re.compile(r"\s*(?:<\|tool_call(?:s_section)?_end\|>\s*)*")
_NUMBER: Final = re.compile(r":\d{1,9}\Z")
_ATTRIBUTES: Final = r"[^<]{0,400}?"
_K3: Final = Keyed(
    head=re.compile(rf'{_ATTRIBUTES}\btool="(?P<name>[^"<]{{1,200}})"{_ATTRIBUTES}<\|sep\|>'),
    argument=re.compile(
        rf'\s*<\|open\|>argument{_ATTRIBUTES}\bkey="(?P<key>[^"<]{{0,200}})"'
        rf'(?:\s*type="(?P<type>\w{{1,40}})")?{_ATTRIBUTES}<\|sep\|>'
    ),
    value_end=re.compile(r"<\|close\|>argument<\|sep\|>"),
    another=re.compile(r"<\|open\|>argument"),
    end=re.compile(r"\s*<\|close\|>call<\|sep\|>(?:\s*<\|close\|>(?:tools|message)<\|sep\|>)*"),
    is_escaped=True,
)


def _read(source: Source, match: re.Match[str]) -> Found:
    head = _HEAD.match(source.text, match.end())
    if head is None:
        return (source.malformed("no name and arguments follow the mark of a call", match.start()),), match.end()
    identifier = head["id"]
    name = _NUMBER.sub("", identifier).removeprefix("functions.")
    calls, end = source.json_call(name, head.end(), match.start(), identifier)
    closed = _END.match(source.text, end)
    return calls, closed.end() if closed else end


def _read_k3(source: Source, match: re.Match[str]) -> Found:
    return read_keyed(source, match, _K3)


KIMI = TextFormat(
    "kimi",
    "Kimi K2",
    r"(?:<\|tool_calls_section_begin\|>\s*)?<\|tool_call_begin\|>|<\|tool_calls_section_begin\|>",
    _read,
    '<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|>',
)
KIMI_K3 = TextFormat(
    "kimi_k3",
    "Kimi K3",
    r"(?:<\|open\|>tools<\|sep\|>\s*)?<\|open\|>call(?=[\s<])|<\|open\|>tools<\|sep\|>",
    _read_k3,
    '<|open|>call tool="f" index="1"<|sep|><|open|>argument key="a" type="number"<|sep|>1<|close|>argument<|sep|>'
    "<|close|>call<|sep|>",
)
