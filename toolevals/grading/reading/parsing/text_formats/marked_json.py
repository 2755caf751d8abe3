"""Reads calls whose name and arguments stand as JSON behind a mark or a header of the model's own.

Reads the calls of DeepSeek V3, R1 and V3.1; V3.2's are invocations in XML. Step-3 writes XML after the same marks.

Grammar: the parsers of vLLM (`deepseekv3`, `deepseekv31`, `step3`) and of SGLang (`step3`).

Reads the calls of gpt-oss: a message whose header names its recipient, `to=functions.NAME`.

Grammar: https://cookbook.openai.com/articles/openai-harmony, and SGLang's parser `gpt_oss`. The recipient stands in the
part of the role or in that of the channel; without special tokens only the words are left. Muse Glimmer has the same
headers before invocations in XML.

Reads the calls of Mistral's models: `[TOOL_CALLS]` before a list in JSON, or before `name[ARGS]{...}`.

Grammar: vLLM's parser `mistral`, for tokenizers of versions before and since 11.

Reads the calls of Command A and R7B: a list in JSON between marks of an action.

Grammar: the parsers of vLLM (`cohere_command`) and of SGLang (`cohere_command4`). Command R's `Action:` (its
template in vLLM's examples) is read with ReAct.

Reads the calls of PLaMo 3: name and arguments in JSON between special tokens. Grammar: vLLM's parser `plamo3`.
"""

from __future__ import annotations

import re
from typing import Final

from toolevals.grading.reading.parsing.text_formats.pieces import json_calls_at
from toolevals.grading.reading.parsing.text_formats.source import Found, Source, TextFormat
from toolevals.grading.values import Call

_SEPARATOR: Final = r"<[｜|]tool[▁_]sep[｜|]>"
_HEAD: Final = re.compile(rf"\s*(?P<head>[^<\n]{{1,200}}?)\s*{_SEPARATOR}\s*")
# V3 has the word "function" before the separator, and behind it the name, and the arguments in a fence.
_NAMED: Final = re.compile(r"(?P<name>[^\s<{`]{1,200})\s*(?:```(?:json)?)?\s*")
_END: Final = re.compile(r"\s*(?:```)?\s*(?:<[｜|]tool[▁_]calls?[▁_]end[｜|]>\s*)*")
# Step-3 leaves the separator out at times, or names the tool before the invocation, too.
_XML: Final = re.compile(rf"\s*(?:function\s*{_SEPARATOR}\s*)?(?:[\w.:/-]{{1,200}}\s*)?(?=<\w{{1,20}}:invoke\b)")


def _read(source: Source, match: re.Match[str]) -> Found:
    if xml := _XML.match(source.text, match.end()):
        return (), xml.end()
    head = _HEAD.match(source.text, match.end())
    if head is None:
        return (source.malformed("no name and separator follow the mark of a call", match.start()),), match.end()
    name, place = head["head"], head.end()
    if name == "function":
        named = _NAMED.match(source.text, place)
        name, place = (named["name"], named.end()) if named else ("", place)
    calls, end = source.json_call(name, place, match.start())
    closed = _END.match(source.text, end)
    return calls, closed.end() if closed else end


DEEPSEEK = TextFormat(
    "deepseek",
    "DeepSeek V3, R1, V3.1; Step-3",
    r"(?:<(?:｜tool[▁_]calls[▁_]begin｜|\|tool▁calls▁begin\|)>\s*)?<(?:｜tool[▁_]call[▁_]begin｜|\|tool▁call▁begin\|)>"
    r"|<(?:｜tool[▁_]calls[▁_]begin｜|\|tool▁calls▁begin\|)>",
    _read,
    '<｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a": 1}<｜tool▁call▁end｜>',
)


_HEADER: Final = re.compile(
    r"\s*(?:<\|channel\|>\s*\w{0,20})?\s*(?:<\|constrain\|>)?\s*(?:json|code)?\s*(?:<\|message\|>)?\s*"
)
_HARMONY_END: Final = re.compile(r"\s*<\|(?:call|end|return)\|>")
_NEXT: Final = re.compile(r"<\|(?:call|end|return|start)\|>")
_NAME: Final = re.compile(r"[\w.:/-]{1,200}")
_HARMONY_XML: Final = re.compile(r"<\w{1,20}:(?:function_calls|invoke)\b")
# Who is no tool: the user, and the model itself.
_PEOPLE: Final = frozenset({"user", "self", "all", "assistant"})


def _read_harmony(source: Source, match: re.Match[str]) -> Found:
    # The marker ends behind `to=`.
    named = _NAME.match(source.text, match.end())
    if named is None:
        return (source.malformed("the message's recipient has no name", match.start()),), match.end()
    header = _HEADER.match(source.text, named.end())
    place = header.end() if header else named.end()
    if _HARMONY_XML.match(source.text, place) or (named.group() in _PEOPLE and not source.offered.find(named.group())):
        return (), place
    calls, end = source.json_call(named.group().removeprefix("functions."), place, match.start())
    if end == place:
        following = source.search(_NEXT, place)
        return calls, following.end() if following else len(source.text)
    closed = _HARMONY_END.match(source.text, end)
    return calls, closed.end() if closed else end


HARMONY = TextFormat(
    "harmony",
    "gpt-oss",
    r"(?:<\|channel\|>|<\|start\|>\s{0,9}assistant)[^<\n]{0,100}?\sto="
    r"|(?:commentary|analysis|assistant)\s{1,9}to=(?=functions\.)",
    _read_harmony,
    '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}<|call|>',
)


_MISTRAL_NAMED: Final = re.compile(
    r"\s*,?\s*(?P<name>[\w.:/-]{1,200})\s*(?:\[CALL_ID\]\s*(?P<id>[\w-]{1,100})\s*)?(?:\[ARGS\]\s*|(?=\{))"
)


def _read_mistral(source: Source, match: re.Match[str]) -> Found:
    place = source.skip(match.end())
    if source.text[place : place + 1] in {"[", "{"}:
        return json_calls_at(source, place, match.start())
    calls: list[Call] = []
    end = match.end()
    while named := _MISTRAL_NAMED.match(source.text, end):
        found, stop = source.json_call(named["name"], named.end(), named.start("name"), named["id"])
        calls += found
        end = stop
        if stop == named.end():
            break
    if calls:
        return tuple(calls), end
    return (source.malformed("neither a list in JSON nor name[ARGS]{...} follows", match.start()),), match.end()


MISTRAL = TextFormat(
    "mistral",
    "Mistral, Magistral, Devstral",
    # The arguments' mark alone, where the mark before the name was dropped.
    r"\[TOOL_CALLS\]|(?<![\w.:/-])(?=[\w.:/-]{1,200}(?:\[CALL_ID\][\w-]{1,100})?\[ARGS\])",
    _read_mistral,
    '[TOOL_CALLS]f[ARGS]{"a": 1}',
)


def _read_cohere(source: Source, match: re.Match[str]) -> Found:
    return json_calls_at(source, source.skip(match.end()), match.start())


COHERE = TextFormat(
    "cohere",
    "Command A, Command R7B",
    r"<\|START_ACTION\|>",
    _read_cohere,
    '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {"a": 1}}]<|END_ACTION|>',
)


_PLAMO_HEAD: Final = re.compile(
    r"(?P<name>[^\s<{]{1,200})<\|plamo:end_tool_name:plamo\|>\s*<\|plamo:begin_tool_arguments:plamo\|>"
    r"(?:<\|plamo:constrain\|>json)?(?:<\|plamo:msg\|>)?\s*"
)
_PLAMO_END: Final = re.compile(r"\s*(?:<\|plamo:end_tool_(?:arguments|request|requests):plamo\|>\s*)*")


def _read_plamo(source: Source, match: re.Match[str]) -> Found:
    head = _PLAMO_HEAD.match(source.text, match.end())
    if head is None:
        return (source.malformed("no name and arguments follow the mark of a call", match.start()),), match.end()
    calls, end = source.json_call(head["name"], head.end(), match.start())
    closed = _PLAMO_END.match(source.text, end)
    return calls, closed.end() if closed else end


PLAMO = TextFormat(
    "plamo",
    "PLaMo 3",
    r"(?:<\|plamo:begin_tool_requests?:plamo\|>\s*){0,2}<\|plamo:begin_tool_name:plamo\|>"
    r"|<\|plamo:begin_tool_requests?:plamo\|>",
    _read_plamo,
    "<|plamo:begin_tool_name:plamo|>f<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|>"
    '<|plamo:constrain|>json<|plamo:msg|>{"a": 1}<|plamo:end_tool_arguments:plamo|>',
)
