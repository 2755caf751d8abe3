"""Calls written in Python's syntax: `name(key=value)`. Read as a syntax tree; nothing is ever evaluated."""

from __future__ import annotations

import ast
import io
import keyword
import math
import tokenize
import warnings
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from toolevals.grading.values import Call, MalformedCall, ToolCall

MAX_LENGTH = 100_000
MAX_NESTING = 60
_JSON_NAMES = {"true": True, "false": False, "null": None}
# Keywords such as `class` may be parameters of a tool; they are read under another name.
_RESERVED = "_toolevals_reserved"


class _BadNodeError(ValueError):
    """A part of a call that is no literal."""

    def __init__(self, reason: str, node: ast.expr) -> None:
        super().__init__(reason)
        self.reason = reason
        self.node = node


class UnreadableCallError(ValueError):
    """Text that is no call in Python's syntax; `position` counts characters."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = position


def calls_in_python(text: str) -> tuple[Call, ...] | None:
    """Return the calls that the whole text consists of: one, several, or a list of them.

    None where the text is good Python and no call. A call whose arguments cannot be read is a MalformedCall.
    Raises UnreadableCallError where it is not Python.
    """
    body = _parsed(text).body
    expressions = [node for statement in body for node in _flat(statement)]
    calls = [_call(node, text) for node in expressions if isinstance(node, ast.Call | ast.BinOp)]
    read = [call for call in calls if call is not None]
    return tuple(read) if read and len(read) == len(expressions) else None


def _parsed(text: str) -> ast.Module:
    if len(text) > MAX_LENGTH:
        raise UnreadableCallError(f"longer than {MAX_LENGTH:,} characters", MAX_LENGTH)
    _check_nesting(text)
    try:
        return _tree(text)
    except SyntaxError as error:
        first = error
    try:
        return _tree(_without_reserved_words(text))
    except (SyntaxError, tokenize.TokenError):
        raise UnreadableCallError(f"not a call: {first.msg}", _offset(text, first.lineno, first.offset)) from None


def _tree(text: str) -> ast.Module:
    with warnings.catch_warnings():
        # Odd escapes and the like; they are the text's own.
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (ValueError, RecursionError, MemoryError) as error:
            raise SyntaxError(str(error) or "too deeply nested") from None


def _check_nesting(text: str) -> None:
    depth = 0
    for position, character in enumerate(text):
        if character in "([{":
            depth += 1
            if depth > MAX_NESTING:
                raise UnreadableCallError(f"nested deeper than {MAX_NESTING} levels", position)
        elif character in ")]}":
            depth -= 1


def _without_reserved_words(text: str) -> str:
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    lines = text.splitlines(keepends=True)
    for token, following in reversed(list(pairwise(tokens))):
        if token.type == tokenize.NAME and keyword.iskeyword(token.string) and following.string == "=":
            row, column = token.end
            lines[row - 1] = lines[row - 1][:column] + _RESERVED + lines[row - 1][column:]
    return "".join(lines)


def _offset(text: str, line: int | None, column: int | None) -> int:
    before = text.splitlines(keepends=True)[: (line or 1) - 1]
    return min(sum(map(len, before)) + max((column or 1) - 1, 0), len(text))


def _flat(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Expr):
        yield from _flat(node.value)
    elif isinstance(node, ast.List | ast.Tuple):
        for element in node.elts:
            yield from _flat(element)
    else:
        yield node


def _call(node: ast.Call | ast.BinOp, text: str) -> Call | None:
    name, call = _named(node)
    if call is None:
        return None
    try:
        return ToolCall(*_read(name, call))
    except _BadNodeError as error:
        segment = ast.get_source_segment(text, node) or text
        position = _offset_of(error.node, text) - _offset_of(node, text)
        return MalformedCall(error.reason, max(position, 0), segment, name)


def _named(node: ast.expr) -> tuple[str | None, ast.Call | None]:
    """Return a call and its name, which may have hyphens: `a-b(c=1)` is a difference to Python."""
    if isinstance(node, ast.Call):
        return _dotted(node.func), node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and isinstance(node.right, ast.Call):
        first, last = _dotted(node.left), _dotted(node.right.func)
        if first is not None and last is not None:
            return f"{first}-{last}", node.right
    return None, None


def _read(name: str | None, call: ast.Call) -> tuple[str, dict[str, Any]]:
    if name is None:
        raise _BadNodeError("the tool's name is not a plain name", call)
    if call.args:
        raise _BadNodeError("a positional argument: nobody can tell which one it is", call.args[0])
    return name, _keywords(call)


def _offset_of(node: ast.expr, text: str) -> int:
    lines = text.splitlines(keepends=True)
    # Python counts bytes within the line.
    inside = lines[node.lineno - 1].encode()[: node.col_offset].decode(errors="replace") if lines else ""
    return _offset(text, node.lineno, len(inside) + 1)


def _keywords(node: ast.Call) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for item in node.keywords:
        if item.arg is None:
            raise _BadNodeError("unpacked arguments are not literals", item.value)
        name = item.arg.removesuffix(_RESERVED)
        if name in arguments:
            raise _BadNodeError(f"the argument {name} is given twice", item.value)
        arguments[name] = _literal(item.value)
    return arguments


def _dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (owner := _dotted(node.value)) is not None:
        return f"{owner}.{node.attr}"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        first, last = _dotted(node.left), _dotted(node.right)
        return None if first is None or last is None else f"{first}-{last}"
    return None


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
    if isinstance(value, float) and not math.isfinite(value):
        raise _BadNodeError("a number is beyond what JSON can hold", node)
    if isinstance(value, str) and ("\0" in value or any("\ud800" <= character <= "\udfff" for character in value)):
        raise _BadNodeError("text holds what JSON cannot", node)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise _BadNodeError("a value is not one of JSON's", node)


def _object(node: ast.Dict) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            raise _BadNodeError("a key is not text", value)
        made[_constant(key)] = _literal(value)
    return made


def _signed(node: ast.UnaryOp) -> int | float:
    value = _literal(node.operand)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _BadNodeError("a sign before what is no number", node)
    return -value if isinstance(node.op, ast.USub) else value
