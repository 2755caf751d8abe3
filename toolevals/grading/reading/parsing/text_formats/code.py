"""Reads the calls in the code that smolagents' models write, in its own tags only: `<code>`, or a fence after `Code:`.

The code is never run. Calls of offered tools count, wherever they stand in it; where no one says what is offered, calls
of plain names that Python does not have. Arguments without a name get theirs from the tool's schema, in its order.
"""

from __future__ import annotations

import ast
import re
from typing import Final

from toolevals.grading.reading.parsing.python_calls import PythonSource, UnreadableCallError, call_of_node
from toolevals.grading.reading.parsing.text_formats.source import Found, Source, TextFormat
from toolevals.grading.values import Call

_END: Final = re.compile(r"</code>|```|(?=<code>)")
_CALLED: Final = re.compile(r"(?<![\w.])(?P<name>[A-Za-z_][\w.]{0,200})\s{0,9}\(")
# The agent's own way to end.
_ANSWER: Final = "final_answer"


def _read(source: Source, match: re.Match[str]) -> Found:
    closed = source.search(_END, match.end())
    stop, end = (closed.start(), closed.end()) if closed else (len(source.text), len(source.text))
    block = source.text[match.end() : stop].strip()
    try:
        python = PythonSource(block)
    except UnreadableCallError as error:
        named = next((found["name"] for found in _CALLED.finditer(block) if _is_tool(source, found["name"])), None)
        if named is None or not source.offered.known:
            return (), match.end()
        return (source.malformed(error.reason, match.start(), named),), end
    nodes = [node for node in ast.walk(python.tree) if isinstance(node, ast.Call)]
    nodes.sort(key=lambda node: (node.end_lineno or 0, node.end_col_offset or 0))
    calls = [call for node in nodes if (call := _call(source, python, node)) is not None]
    return (tuple(calls), end) if calls else ((), match.end())


def _call(source: Source, python: PythonSource, node: ast.Call) -> Call | None:
    name = python.text[python.start(node) : python.end(node.func)]
    if not _is_tool(source, name):
        return None
    tool = source.offered.find(name)
    properties = tool.input_schema.get("properties") if tool is not None else None
    return call_of_node(node, python, tuple(properties) if isinstance(properties, dict) else ())


def _is_tool(source: Source, name: str) -> bool:
    if name == _ANSWER and not source.offered.find(name):
        return False
    return source.offered.has(name) and (source.offered.known or "." not in name)


CODE = TextFormat(
    "code",
    "smolagents' code",
    r"<code>|(?m:^[ \t]{0,20}Code:)\s{0,20}```(?:python|py)?(?=\s)",
    _read,
    "<code>\nprint(f(a=1))\n</code>",
)
