"""Reads the calls of DeepSeek V3, R1 and V3.1; V3.2's are invocations in XML. Step-3 writes XML after the same marks.

Grammar: the parsers of vLLM (`deepseekv3`, `deepseekv31`, `step3`) and of SGLang (`step3`).
"""

from __future__ import annotations

import re
from typing import Final

from toolevals.grading.reading.parsing.text_formats.source import Found, Source, TextFormat

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
