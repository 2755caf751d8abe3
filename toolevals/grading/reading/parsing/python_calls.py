"""Reads calls written in Python's syntax: `name(key=value)`. It parses a syntax tree, and never evaluates anything."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from toolevals.grading.reading.parsing.json_calls import LONGEST_SHOWN
from toolevals.grading.reading.parsing.python_source import PythonSource
from toolevals.grading.values import Call, MalformedCall, ToolCall
from toolevals.grading.values.canonical import INTEGER_LIMIT, MAX_DIGITS
from toolevals.grading.values.documents import text_problem

_JSON_NAMES = {"true": True, "false": False, "null": None}
_NAME = re.compile(r"[^\W\d]\w*(?:[.-]\w+)*")
_KEY = re.compile(r"\w+")


class _BadNodeError(ValueError):
    """A part of a call that is no literal."""

    def __init__(self, reason: str, node: ast.expr) -> None:
        super().__init__(reason)
        self.reason = reason
        self.node = node


def calls_in_python(text: str) -> tuple[Call, ...] | None:
    """Return the calls that the whole text consists of: one, several, or a list of them.

    None where the text is good Python and no call. A call whose arguments cannot be read is a MalformedCall.
    Raises UnreadableCallError where it is not Python.
    """
    source = PythonSource(text)
    expressions = [node for statement in source.tree.body for node in _flat(statement)]
    calls = [_call(node, source) for node in expressions if isinstance(node, ast.Call | ast.BinOp)]
    read = [call for call in calls if call is not None]
    return tuple(read) if read and len(read) == len(expressions) else None


def _flat(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Expr):
        yield from _flat(node.value)
    elif isinstance(node, ast.List | ast.Tuple):
        for element in node.elts:
            yield from _flat(element)
    else:
        yield node


def _call(node: ast.Call | ast.BinOp, source: PythonSource) -> Call | None:
    # A name may have hyphens: `a-b(c=1)` is a difference to Python.
    call = node if isinstance(node, ast.Call) else node.right
    if not isinstance(call, ast.Call):
        return None
    written = source.text[source.start(node) : source.end(call.func)]
    name = written if _NAME.fullmatch(written) else None
    if name is None and node is not call:
        return None
    return _made(name, call, node, source, ())


def call_of_node(call: ast.Call, source: PythonSource, names: Sequence[str]) -> Call:
    """Return the call that a node is; `names` are those of arguments without one, in order."""
    written = source.text[source.start(call) : source.end(call.func)]
    return _made(written if _NAME.fullmatch(written) else None, call, call, source, names)


def _made(name: str | None, call: ast.Call, node: ast.expr, source: PythonSource, names: Sequence[str]) -> Call:
    start = source.start(node)
    try:
        return ToolCall(*_read(name, call, source, names))
    except _BadNodeError as error:
        text = source.text[start : source.end(node)][:LONGEST_SHOWN]
        return MalformedCall(error.reason, max(source.start(error.node) - start, 0), text, name)


def _read(name: str | None, call: ast.Call, source: PythonSource, names: Sequence[str]) -> tuple[str, dict[str, Any]]:
    if name is None:
        raise _BadNodeError("the tool's name is not a plain name", call)
    if len(call.args) > len(names):
        raise _BadNodeError("a positional argument: its name is not known", call.args[0])
    arguments = {key: _literal(value) for key, value in zip(names, call.args, strict=False)}
    for item in call.keywords:
        if item.arg is None:
            raise _BadNodeError("unpacked arguments are not literals", item.value)
        # As it is written: Python would bring letters of like shape to one.
        key = _KEY.match(source.text, source.start(item))
        argument = key.group() if key else item.arg
        if argument in arguments:
            raise _BadNodeError(f"the argument {argument} is given twice", item.value)
        arguments[argument] = _literal(item.value)
    return name, arguments


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        return _constant(node)
    if isinstance(node, ast.List | ast.Tuple):
        return [_literal(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        return _object(node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        return _signed(node)
    if isinstance(node, ast.Name) and node.id in _JSON_NAMES:
        return _JSON_NAMES[node.id]
    raise _BadNodeError("a value is not a literal", node)


def _constant(node: ast.Constant) -> Any:
    value = node.value
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        raise _BadNodeError("a number is beyond what JSON can hold", node)
    if isinstance(value, int) and value >= INTEGER_LIMIT:
        raise _BadNodeError(f"an integer has more than {MAX_DIGITS:,} digits", node)
    if isinstance(value, str) and text_problem(value):
        raise _BadNodeError("text holds what JSON cannot", node)
    if isinstance(value, str | int | float):
        return value
    raise _BadNodeError("a value is not one of JSON's", node)


def _object(node: ast.Dict) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            raise _BadNodeError("a key is not text", value)
        name = _constant(key)
        if name in made:
            raise _BadNodeError("a key appears twice in one object", key)
        made[name] = _literal(value)
    return made


def _signed(node: ast.UnaryOp) -> int | float:
    negative = False
    operand: ast.expr = node
    while isinstance(operand, ast.UnaryOp) and isinstance(operand.op, ast.USub | ast.UAdd):
        negative ^= isinstance(operand.op, ast.USub)
        operand = operand.operand
    value = _constant(operand) if isinstance(operand, ast.Constant) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _BadNodeError("a sign before what is no number", node)
    return -value if negative else value
