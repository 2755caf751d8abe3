"""Reads invocations in XML: Claude's, MiniMax M2's, DeepSeek V3.2's to V4.1's (DSML), GigaChat 3.5's, Step-3's, ...

`<invoke name="f"><parameter name="a">1</parameter></invoke>`, with arguments as JSON in their place (DeepSeek), and
Claude 2's `<invoke><tool_name>f</tool_name><parameters><a>1</a></parameters></invoke>`. Tags may have a prefix.
Grammar: the parsers of vLLM (`minimax_m2`, `deepseekv32`, `deepseekv4`, `step3`) and of SGLang (`deepseekv41`,
`gigachat35`, `step3`, `dots`, `muse_glimmer`); Claude's is at https://docs.anthropic.com/claude/docs/legacy-tool-use.
"""

from __future__ import annotations

import re
from typing import Any, Final

from toolevals.grading.reading.parsing.text_formats.source import Found, Source, TextFormat
from toolevals.grading.reading.parsing.text_formats.typed_text import typed_arguments, unwrapped
from toolevals.grading.values import ToolCall

PREFIX: Final = r"(?:[｜|](?:DSML|GCML)[｜|]\s?|\w{1,20}:)?"
_NAME: Final = re.compile(
    r"""\bname\s*=\s*(?:(?P<quote>["'])(?P<name>[^"'<>]{1,200})(?P=quote)|(?P<bare>[^"'<>\s]{1,200}))"""
)
_END: Final = re.compile(rf"</{PREFIX}invoke>")
_PARAMETER: Final = re.compile(rf"\s*<{PREFIX}parameter\s[^<>]{{0,300}}>")
_PARAMETER_END: Final = re.compile(rf"</{PREFIX}parameter>")
_IS_TEXT: Final = re.compile(r"""\bstring\s*=\s*["']?(?P<is>true|false)""")
_OLD_NAME: Final = re.compile(r"\s*<tool_name>\s*(?P<name>[^<>]{1,200}?)\s*</tool_name>\s*")
_OLD: Final = re.compile(r"<(?P<key>[\w.-]{1,200})>")


def _read(source: Source, match: re.Match[str]) -> Found:
    named = _NAME.search(source.text, match.start(), match.end())
    if named is None:
        return _read_old(source, match)
    name, place = _named(named), match.end()
    given = source.skip(place)
    if source.text[given : given + 1] == "{":
        calls, end = source.json_call(name, given, match.start())
        closed = _END.match(source.text, source.skip(end))
        return calls, closed.end() if closed else end
    texts: dict[str, str] = {}
    values: dict[str, str] = {}
    while parameter := _PARAMETER.match(source.text, place):
        key, ended = _NAME.search(parameter.group()), source.search(_PARAMETER_END, parameter.end())
        if key is None or ended is None or _named(key) in texts or _named(key) in values:
            reason = "a parameter has no name, is given twice or has no end"
            return (source.malformed(reason, match.start(), name),), parameter.end()
        is_text = _IS_TEXT.search(parameter.group())
        kept = texts if is_text and is_text["is"] == "true" else values
        kept[_named(key)] = unwrapped(source.text[parameter.end() : ended.start()])
        place = ended.end()
    closed = _END.match(source.text, source.skip(place))
    if closed is None and ((not texts and not values) or source.skip(place) < len(source.text)):
        return (source.malformed("the text ends within this call, or is none", match.start(), name),), place
    arguments: dict[str, Any] = texts | typed_arguments(values, name, source.offered)
    return (ToolCall(name, arguments),), closed.end() if closed else place


def _read_old(source: Source, match: re.Match[str]) -> Found:
    named = _OLD_NAME.match(source.text, match.end())
    if named is None:
        return (source.malformed("the invocation has no name", match.start()),), match.end()
    name, place = named["name"], named.end()
    texts: dict[str, str] = {}
    inside = source.text.startswith("<parameters>", place)
    place = source.skip(place + len("<parameters>")) if inside else place
    while begun := (_OLD.match(source.text, place) if inside else None):
        closing = re.compile(f"</{re.escape(begun['key'])}>")
        ended = source.search(closing, begun.end())
        if ended is None or begun["key"] in texts:
            return (source.malformed("a parameter has no end, or is given twice", match.start(), name),), begun.end()
        texts[begun["key"]] = unwrapped(source.text[begun.end() : ended.start()])
        place = source.skip(ended.end())
    if inside and not source.text.startswith("</parameters>", place):
        return (source.malformed("the text ends within this call", match.start(), name),), place
    place = place + len("</parameters>") if inside else place
    closed = _END.match(source.text, source.skip(place))
    arguments = typed_arguments(texts, name, source.offered)
    return (ToolCall(name, arguments),), closed.end() if closed else place


def _named(attribute: re.Match[str]) -> str:
    return (attribute["name"] or attribute["bare"]).strip()


XML_INVOCATIONS = TextFormat(
    "xml_invocations",
    "Claude's XML, MiniMax M2, DeepSeek V3.2 to V4.1, GigaChat 3.5, Step-3, dots, Muse Glimmer",
    rf"<{PREFIX}invoke(?:\s[^<>]{{0,400}})?>",
    _read,
    '<function_calls><invoke name="f"><parameter name="a">1</parameter></invoke></function_calls>',
)
