"""Reads calls as `<function=f>` (Qwen3-Coder, Seed-OSS, Step-3.5, Llama 3) and `<function name="f">` (MiniCPM).

Arguments are `<parameter=a>` or `<param name="a">`, typed by the tool's schema, or one object of JSON. Grammar: the
parsers of vLLM (`qwen3coder`, `minicpm5xml`, `iquest_coder`) and of SGLang (`berrylm`).
"""

from __future__ import annotations

import re
from typing import Final

from toolevals.grading.reading.parsing.text_formats.source import Found, Source, TextFormat
from toolevals.grading.reading.parsing.text_formats.typed_text import typed_arguments
from toolevals.grading.values import ToolCall

_NAME: Final = re.compile(r"""(?:=|\bname\s*=)\s*["']?(?P<name>[^"'<>\s]{1,200})""")
_END: Final = re.compile(r"\s*(?:</function>|(?=</(?:\w{1,20}:)?tool_calls?>))")
_PARAMETER: Final = re.compile(
    r"""\s*<(?:parameter|param)(?:\s*=|name\s*=|\s[^<>]{0,200}?\bname\s*=)\s*["']?(?P<key>[^"'<>]{1,200}?)["']?(?:\s[^<>]{0,200})?>"""
)
# Some models leave the end of a parameter out.
_PARAMETER_END: Final = re.compile(r"</(?:parameter|param)>|(?=<parameter=|</function>)")
_QUOTED: Final = re.compile(r"\s*<!\[CDATA\[")
_QUOTED_END: Final = re.compile(r"\]\]>\s*(?:</(?:parameter|param)>|(?=<parameter=|</function>))")


def _read(source: Source, match: re.Match[str]) -> Found:
    named = _NAME.search(source.text, match.start(), match.end())
    if named is None:
        return (source.malformed("the function has no name", match.start()),), match.end()
    name, place = named["name"], match.end()
    given = source.skip(place)
    if source.text[given : given + 1] == "{":
        calls, end = source.json_call(name, given, match.start())
        closed = _END.match(source.text, end)
        return calls, closed.end() if closed else end
    texts: dict[str, str] = {}
    while parameter := _PARAMETER.match(source.text, place):
        quoted = _QUOTED.match(source.text, parameter.end())
        begin = quoted.end() if quoted else parameter.end()
        ended = source.search(_QUOTED_END if quoted else _PARAMETER_END, begin)
        key = parameter["key"].strip()
        if ended is None or key in texts:
            reason = "a parameter has no end, or is given twice"
            return (source.malformed(reason, match.start(), name),), parameter.end()
        given_text = source.text[begin : ended.start()]
        texts[key] = given_text if quoted else given_text.removeprefix("\n").removesuffix("\n")
        place = ended.end()
    closed = _END.match(source.text, place)
    if closed is None and (not texts or source.skip(place) < len(source.text)):
        return (source.malformed("the text ends within this call, or is none", match.start(), name),), place
    arguments = typed_arguments(texts, name, source.offered)
    return (ToolCall(name, arguments),), closed.end() if closed else place


XML_FUNCTIONS = TextFormat(
    "xml_functions",
    "Qwen3-Coder, Seed-OSS, Step-3.5, MiniCPM, Llama 3",
    r"<function(?:\s{0,9}=\s{0,9}|name\s{0,9}=|\s[^<>]{0,200}?\bname\s{0,9}=)[^<>]{1,300}>",
    _read,
    "<tool_call><function=f><parameter=a>1</parameter></function></tool_call>",
)
