"""Reads the calls of Command A and R7B: a list in JSON between marks of an action.

Grammar: the parsers of vLLM (`cohere_command`) and of SGLang (`cohere_command4`). Command R's `Action:` (its
template in vLLM's examples) is read with ReAct.
"""

from __future__ import annotations

import re

from toolevals.grading.reading.parsing.text_formats.pieces import json_calls_at
from toolevals.grading.reading.parsing.text_formats.source import Found, Source, TextFormat


def _read(source: Source, match: re.Match[str]) -> Found:
    return json_calls_at(source, source.skip(match.end()), match.start())


COHERE = TextFormat(
    "cohere",
    "Command A, Command R7B",
    r"<\|START_ACTION\|>",
    _read,
    '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {"a": 1}}]<|END_ACTION|>',
)
