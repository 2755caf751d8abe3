"""Reads the calls of Solar Open 2: the name on the line of its mark, and keys and values between special tokens.

Grammar: vLLM's parser `solar_open2`.
"""

from __future__ import annotations

import re
from typing import Final

from toolevals.grading.reading.parsing.text_formats.keyed import Keyed, read_keyed
from toolevals.grading.reading.parsing.text_formats.source import Found, Source, TextFormat

_FORM: Final = Keyed(
    head=re.compile(r"[ \t]*(?P<name>[^\n<]{1,200}?)[ \t]*(?:\n|(?=<))"),
    argument=re.compile(r"\s*<\|tool_arg:start\|>(?P<key>[^<]{1,200})<\|tool_arg:value\|>"),
    value_end=re.compile(r"<\|tool_arg:end\|>"),
    another=re.compile(r"<\|tool_arg:\w{1,10}\|>"),
    end=re.compile(r"\s*<\|tool_call:end\|>"),
)


def _read(source: Source, match: re.Match[str]) -> Found:
    return read_keyed(source, match, _FORM)


SOLAR = TextFormat(
    "solar",
    "Solar Open 2",
    r"<\|tool_call:start\|>",
    _read,
    "<|tool_call:start|>f\n<|tool_arg:start|>a<|tool_arg:value|>1<|tool_arg:end|>\n<|tool_call:end|>",
)
