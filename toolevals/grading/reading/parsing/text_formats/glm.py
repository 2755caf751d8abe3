"""Reads the calls of GLM 4.5 to 4.7, Hunyuan 3 and 4, K2 Horizon, IQuest, Ling 3, Poolside and Spark.

The name stands first, then keys and values in tags of their own, at times with their type. Grammar: the parsers of vLLM
(`glm47_moe`, `hy_v3`, `hy_v4`, `poolside_v1`) and of SGLang (`k2_v3`, `iquest_q1`, `ling3`, `spark3`).
"""

from __future__ import annotations

import re
from typing import Final

from toolevals.grading.reading.parsing.text_formats.keyed import Keyed, read_keyed
from toolevals.grading.reading.parsing.text_formats.source import Found, Source, TextFormat

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
