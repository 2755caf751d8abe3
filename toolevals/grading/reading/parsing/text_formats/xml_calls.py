"""Reads calls that are written as XML.

Reads invocations in XML: Claude's, MiniMax M2's, DeepSeek V3.2's to V4.1's (DSML), GigaChat 3.5's, Step-3's, ...

`<invoke name="f"><parameter name="a">1</parameter></invoke>`, with arguments as JSON in their place (DeepSeek), and
Claude 2's `<invoke><tool_name>f</tool_name><parameters><a>1</a></parameters></invoke>`. Tags may have a prefix.
Grammar: the parsers of vLLM (`minimax_m2`, `deepseekv32`, `deepseekv4`, `step3`) and of SGLang (`deepseekv41`,
`gigachat35`, `step3`, `dots`, `muse_glimmer`); Claude's is at https://docs.anthropic.com/claude/docs/legacy-tool-use.

Reads calls as `<function=f>` (Qwen3-Coder, Seed-OSS, Step-3.5, Llama 3) and `<function name="f">` (MiniCPM).

Arguments are `<parameter=a>` or `<param name="a">`, typed by the tool's schema, or one object of JSON. Grammar: the
parsers of vLLM (`qwen3coder`, `minicpm5xml`, `iquest_coder`) and of SGLang (`berrylm`).

Reads the calls of MiniMax M3: XML with a token before each tag, and a tag for each argument, nested as its value is.

An element within which tags stand is an object, or a list where the schema says so or all are `item`; what has none is
a text that the schema types. Grammar: SGLang's parser `minimax_m3`.
"""

from __future__ import annotations

import re
from typing import Any, Final

from toolevals.grading.reading.parsing.text_formats.source import (
    Found,
    Source,
    TextFormat,
    part_of,
    typed,
    typed_arguments,
    unwrapped,
)
from toolevals.grading.values import ToolCall
from toolevals.json_types import JsonObject, JsonValue

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
    arguments: JsonObject = texts | typed_arguments(values, name, source.offered)
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


_FUNCTIONS_NAME: Final = re.compile(r"""(?:=|\bname\s*=)\s*["']?(?P<name>[^"'<>\s]{1,200})""")
_FUNCTIONS_END: Final = re.compile(r"\s*(?:</function>|(?=</(?:\w{1,20}:)?tool_calls?>))")
_FUNCTIONS_PARAMETER: Final = re.compile(
    r"""\s*<(?:parameter|param)(?:\s*=|name\s*=|\s[^<>]{0,200}?\bname\s*=)\s*["']?(?P<key>[^"'<>]{1,200}?)["']?(?:\s[^<>]{0,200})?>"""
)
# Some models leave the end of a parameter out.
_FUNCTIONS_PARAMETER_END: Final = re.compile(r"</(?:parameter|param)>|(?=<parameter=|</function>)")
_QUOTED: Final = re.compile(r"\s*<!\[CDATA\[")
_QUOTED_END: Final = re.compile(r"\]\]>\s*(?:</(?:parameter|param)>|(?=<parameter=|</function>))")


def _read_functions(source: Source, match: re.Match[str]) -> Found:
    named = _FUNCTIONS_NAME.search(source.text, match.start(), match.end())
    if named is None:
        return (source.malformed("the function has no name", match.start()),), match.end()
    name, place = named["name"], match.end()
    given = source.skip(place)
    if source.text[given : given + 1] == "{":
        calls, end = source.json_call(name, given, match.start())
        closed = _FUNCTIONS_END.match(source.text, end)
        return calls, closed.end() if closed else end
    texts: dict[str, str] = {}
    while parameter := _FUNCTIONS_PARAMETER.match(source.text, place):
        quoted = _QUOTED.match(source.text, parameter.end())
        begin = quoted.end() if quoted else parameter.end()
        ended = source.search(_QUOTED_END if quoted else _FUNCTIONS_PARAMETER_END, begin)
        key = parameter["key"].strip()
        if ended is None or key in texts:
            reason = "a parameter has no end, or is given twice"
            return (source.malformed(reason, match.start(), name),), parameter.end()
        given_text = source.text[begin : ended.start()]
        texts[key] = given_text if quoted else given_text.removeprefix("\n").removesuffix("\n")
        place = ended.end()
    closed = _FUNCTIONS_END.match(source.text, place)
    if closed is None and (not texts or source.skip(place) < len(source.text)):
        return (source.malformed("the text ends within this call, or is none", match.start(), name),), place
    arguments = typed_arguments(texts, name, source.offered)
    return (ToolCall(name, arguments),), closed.end() if closed else place


XML_FUNCTIONS = TextFormat(
    "xml_functions",
    "Qwen3-Coder, Seed-OSS, Step-3.5, MiniCPM, Llama 3",
    r"<function(?:\s{0,9}=\s{0,9}|name\s{0,9}=|\s[^<>]{0,200}?\bname\s{0,9}=)[^<>]{1,300}>",
    _read_functions,
    "<tool_call><function=f><parameter=a>1</parameter></function></tool_call>",
)


_MOST_LEVELS: Final = 50
_MARK: Final = r"\]<\]minimax\[>\["
_OPEN: Final = re.compile(rf"\s*{_MARK}\s*<(?P<tag>[^<>/\"\s]{{1,200}})>")
_MINIMAX_END: Final = re.compile(rf"\s*{_MARK}\s*</invoke>")
_NEXT: Final = re.compile(_MARK)
_CLOSE: Final = re.compile(rf"{_MARK}\s*</(?P<tag>[^<>]{{1,200}})>")


class _UnreadableError(ValueError):
    """An element without an end."""


def _read_minimax(source: Source, match: re.Match[str]) -> Found:
    name = match["m3_name"]
    if name is None:
        return (source.malformed("no invocation follows the mark of a call", match.start()),), match.end()
    tool = source.offered.find(name)
    root = tool.input_schema if tool is not None else {}
    try:
        arguments, place = _children(source, match.end(), root, root, 1)
    except _UnreadableError as error:
        return (source.malformed(str(error), match.start(), name),), match.end()
    ended = _MINIMAX_END.match(source.text, place)
    if ended is None or not isinstance(arguments, dict):
        return (source.malformed("the text ends within this call, or is none", match.start(), name),), match.end()
    return (ToolCall(name, arguments),), ended.end()


def _children(source: Source, place: int, schema: object, root: object, level: int) -> tuple[Any, int]:
    """Return the value whose elements stand here: an object, or a list."""
    if level > _MOST_LEVELS:
        raise _UnreadableError(f"nested deeper than {_MOST_LEVELS} levels")
    made: list[tuple[str, Any]] = []
    kind = schema.get("type") if isinstance(schema, dict) else None
    while opened := _OPEN.match(source.text, place):
        tag = opened["tag"]
        value, place = _element(source, opened.end(), part_of(schema, tag), root, level)
        closed = _CLOSE.match(source.text, place)
        if closed is None or closed["tag"] != tag:
            raise _UnreadableError(f"the argument {tag} has no end")
        made.append((tag, value))
        place = closed.end()
    if level > 1 and (kind == "array" or (kind != "object" and all(tag == "item" for tag, _ in made))):
        return [value for _, value in made], place
    if len({tag for tag, _ in made}) < len(made):
        raise _UnreadableError("an argument is given twice")
    return dict(made), place


def _element(source: Source, place: int, schema: JsonValue, root: Any, level: int) -> tuple[Any, int]:
    if _OPEN.match(source.text, place):
        value, place = _children(source, place, schema, root, level + 1)
        return value, source.skip(place)
    following = source.search(_NEXT, place)
    stop = following.start() if following else len(source.text)
    return typed(source.text[place:stop], schema, root), stop


MINIMAX_M3 = TextFormat(
    "minimax_m3",
    "MiniMax M3",
    rf"(?:{_MARK}\s*<tool_call>\s*)?{_MARK}\s*<invoke\s+name=\"(?P<m3_name>[^\"<>]{{1,200}})\">"
    rf"|{_MARK}\s*<tool_call>",
    _read_minimax,
    ']<]minimax[>[<tool_call>]<]minimax[>[<invoke name="f">]<]minimax[>[<a>1]<]minimax[>[</a>]<]minimax[>[</invoke>',
)
