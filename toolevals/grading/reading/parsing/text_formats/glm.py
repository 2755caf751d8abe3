"""Reads the calls of GLM 4.5 to 4.7 and Hunyuan 3: the name, then keys and values in tags of their own.

Values are typed by the tool's schema. Grammar: the chat templates of zai-org/GLM-4.5 and tencent's Hunyuan.
"""

from __future__ import annotations

import re
from typing import Final

from toolevals.grading.reading.parsing.text_formats.source import Found, Source, TextFormat
from toolevals.grading.reading.parsing.text_formats.typed_text import typed_arguments
from toolevals.grading.values import ToolCall

_NAME: Final = re.compile(r"[\w.:/-]{1,200}")
_PAIR: Final = re.compile(r"(?:\\n|\s)*<arg_key>(?P<key>[^<]{1,200})</arg_key>(?:\\n|\s)*<arg_value>")
_VALUE_END: Final = re.compile(r"</arg_value>")
_SEPARATOR: Final = re.compile(r"(?:\\n|\s)*(?:<tool_sep>)?")


def _read(source: Source, match: re.Match[str]) -> Found:
    named = _NAME.match(source.text, match.end())
    name = named.group() if named else ""
    separated = _SEPARATOR.match(source.text, named.end() if named else match.end())
    place = separated.end() if separated else match.end()
    texts: dict[str, str] = {}
    while pair := _PAIR.match(source.text, place):
        ended = source.search(_VALUE_END, pair.end())
        key = pair["key"].strip()
        if ended is None or key in texts:
            return (source.malformed("an argument has no end, or is given twice", match.start(), name),), pair.end()
        texts[key] = source.text[pair.end() : ended.start()].strip()
        place = ended.end()
    following = source.skip(place)
    if not name or not texts or source.text.startswith("<arg_", following):
        end = (
            following + len("<arg_key>") if source.text.startswith("<arg_key>", following) else max(place, match.end())
        )
        return (source.malformed("no name, keys and values follow", match.start(), name or None),), end
    return (ToolCall(name, typed_arguments(texts, name, source.offered)),), place


GLM = TextFormat(
    "glm",
    "GLM 4.5 to 4.7, Hunyuan 3",
    r"(?<![\w.:/-])(?=[\w.:/-]{1,200}(?:\\n|\s){0,20}(?:<tool_sep>)?(?:\\n|\s){0,20}<arg_key>)|(?=<arg_key>)",
    _read,
    "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>",
)
