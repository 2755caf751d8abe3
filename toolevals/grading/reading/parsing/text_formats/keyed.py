"""Reads calls whose arguments stand key by key between marks: the values are texts that the tool's schema types.

Reads the calls of GLM 4.5 to 4.7, Hunyuan 3 and 4, K2 Horizon, IQuest, Ling 3, Poolside and Spark.

The name stands first, then keys and values in tags of their own, at times with their type. Grammar: the parsers of vLLM
(`glm47_moe`, `hy_v3`, `hy_v4`, `poolside_v1`) and of SGLang (`k2_v3`, `iquest_q1`, `ling3`, `spark3`).

Reads the calls of Kimi K2, `functions.NAME:INDEX` and arguments in JSON, and those of Kimi K3, key by key.

Grammar: the parsers of vLLM (`kimi_k2`) and of SGLang (`kimik2`, `kimik3`).

Reads the calls of Solar Open 2: the name on the line of its mark, and keys and values between special tokens.

Grammar: vLLM's parser `solar_open2`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from typing import Final

from toolevals.grading.reading.parsing.text_formats.source import Found, Source, TextFormat, typed_arguments, unwrapped
from toolevals.grading.values import ToolCall
from toolevals.json_types import JsonObject

_NOTHING: Final = re.compile("")


@dataclass(frozen=True, slots=True)
class Keyed:
    """The marks of one form. `head` holds the `name`; `argument` ends before its value, and holds `key` and `type`."""

    head: re.Pattern[str]
    argument: re.Pattern[str]
    value_end: re.Pattern[str]
    # What stands where an argument could not be read.
    another: re.Pattern[str]
    end: re.Pattern[str] = _NOTHING
    needs_arguments: bool = False
    is_escaped: bool = False


def read_keyed(source: Source, match: re.Match[str], form: Keyed) -> Found:
    """Return the call that begins behind a mark."""
    text = source.text
    head = form.head.match(text, match.end())
    name = _plain(head["name"], form) if head else ""
    place = head.end() if head else match.end()
    texts: dict[str, str] = {}
    verbatim: dict[str, str] = {}
    while argument := form.argument.match(text, place):
        ended = source.search(form.value_end, argument.end())
        key = _plain(argument["key"].strip(), form)
        if ended is None or key in texts or key in verbatim:
            return (source.malformed("an argument has no end, or is given twice", match.start(), name),), argument.end()
        is_text = argument.groupdict().get("type") == "string"
        (verbatim if is_text else texts)[key] = unwrapped(text[argument.end() : ended.start()])
        place = ended.end()
    another = form.another.match(text, source.skip(place))
    ended = form.end.match(text, place)
    if not name or another or ended is None or (form.needs_arguments and not texts and not verbatim):
        stop = another.end() if another else max(place, match.end())
        return (source.malformed("no name, keys and values follow", match.start(), name or None),), stop
    arguments: JsonObject = typed_arguments(texts, name, source.offered) | verbatim
    return (ToolCall(name, arguments),), ended.end()


def _plain(text: str, form: Keyed) -> str:
    return unescape(text) if form.is_escaped else text


_SPACE: Final = r"(?:\\n|\s)"
# Hunyuan 4 ends the names of its tags with a word of its own, K2 Horizon begins them with one.
_OPEN, _CLOSE, _TAIL = r"<(?:ifm\|)?", r"</(?:ifm\|)?", r"(?::[\w.+-]{1,40})?>"
_KEY: Final = rf"{_OPEN}arg_key{_TAIL}"
_FORM: Final = Keyed(
    head=re.compile(rf"(?P<name>[\w.:/-]{{1,200}}){_SPACE}*(?:<tool_sep{_TAIL})?"),
    argument=re.compile(
        rf"{_SPACE}*{_KEY}(?P<key>[^<]{{1,200}}){_CLOSE}arg_key{_TAIL}{_SPACE}*"
        rf"(?:{_OPEN}arg_type>(?P<type>[^<]{{0,40}}){_CLOSE}arg_type>{_SPACE}*)?{_OPEN}arg_value{_TAIL}"
    ),
    value_end=re.compile(rf"{_CLOSE}arg_value{_TAIL}"),
    another=re.compile(rf"{_OPEN}arg_(?:key|value){_TAIL}"),
    needs_arguments=True,
)


def _read(source: Source, match: re.Match[str]) -> Found:
    return read_keyed(source, match, _FORM)


GLM = TextFormat(
    "glm",
    "GLM 4.5 to 4.7, Hunyuan 3 and 4, K2 Horizon, IQuest, Ling 3, Poolside, Spark",
    rf"(?<![\w.:/-])(?=[\w.:/-]{{1,200}}{_SPACE}{{0,20}}(?:<tool_sep{_TAIL})?{_SPACE}{{0,20}}{_KEY})|(?={_KEY})",
    _read,
    "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>",
)


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


def _read_kimi(source: Source, match: re.Match[str]) -> Found:
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
    _read_kimi,
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


_SOLAR_FORM: Final = Keyed(
    head=re.compile(r"[ \t]*(?P<name>[^\n<]{1,200}?)[ \t]*(?:\n|(?=<))"),
    argument=re.compile(r"\s*<\|tool_arg:start\|>(?P<key>[^<]{1,200})<\|tool_arg:value\|>"),
    value_end=re.compile(r"<\|tool_arg:end\|>"),
    another=re.compile(r"<\|tool_arg:\w{1,10}\|>"),
    end=re.compile(r"\s*<\|tool_call:end\|>"),
)


def _read_solar(source: Source, match: re.Match[str]) -> Found:
    return read_keyed(source, match, _SOLAR_FORM)


SOLAR = TextFormat(
    "solar",
    "Solar Open 2",
    r"<\|tool_call:start\|>",
    _read_solar,
    "<|tool_call:start|>f\n<|tool_arg:start|>a<|tool_arg:value|>1<|tool_arg:end|>\n<|tool_call:end|>",
)
