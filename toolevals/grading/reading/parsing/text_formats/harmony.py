"""Reads the calls of gpt-oss: a message whose header names its recipient, `to=functions.NAME`.

Grammar: https://cookbook.openai.com/articles/openai-harmony, and SGLang's parser `gpt_oss`. The recipient stands in the
part of the role or in that of the channel; without special tokens only the words are left. Muse Glimmer has the same
headers before invocations in XML.
"""

from __future__ import annotations

import re
from typing import Final

from toolevals.grading.reading.parsing.text_formats.source import Found, Source, TextFormat

_HEADER: Final = re.compile(
    r"\s*(?:<\|channel\|>\s*\w{0,20})?\s*(?:<\|constrain\|>)?\s*(?:json|code)?\s*(?:<\|message\|>)?\s*"
)
_END: Final = re.compile(r"\s*<\|(?:call|end|return)\|>")
_NEXT: Final = re.compile(r"<\|(?:call|end|return|start)\|>")
_NAME: Final = re.compile(r"[\w.:/-]{1,200}")
_XML: Final = re.compile(r"<\w{1,20}:(?:function_calls|invoke)\b")
# Who is no tool: the user, and the model itself.
_PEOPLE: Final = frozenset({"user", "self", "all", "assistant"})


def _read(source: Source, match: re.Match[str]) -> Found:
    # The marker ends behind `to=`.
    named = _NAME.match(source.text, match.end())
    if named is None:
        return (source.malformed("the message's recipient has no name", match.start()),), match.end()
    header = _HEADER.match(source.text, named.end())
    place = header.end() if header else named.end()
    if _XML.match(source.text, place) or (named.group() in _PEOPLE and not source.offered.find(named.group())):
        return (), place
    calls, end = source.json_call(named.group().removeprefix("functions."), place, match.start())
    if end == place:
        following = source.search(_NEXT, place)
        return calls, following.end() if following else len(source.text)
    closed = _END.match(source.text, end)
    return calls, closed.end() if closed else end


HARMONY = TextFormat(
    "harmony",
    "gpt-oss",
    r"(?:<\|channel\|>|<\|start\|>\s{0,9}assistant)[^<\n]{0,100}?\sto="
    r"|(?:commentary|analysis|assistant)\s{1,9}to=(?=functions\.)",
    _read,
    '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}<|call|>',
)
