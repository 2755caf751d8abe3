"""Reads calls written in Python's syntax: `name(key=value)`. It parses a syntax tree, and never evaluates anything.

Reads text as a Python syntax tree, with places that count characters and words that Python reserves.
"""

from __future__ import annotations

import ast
import io
import keyword
import math
import re
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

from toolevals.grading.reading.parsing.json_calls import LONGEST_SHOWN
from toolevals.grading.values import Call, MalformedCall, ToolCall
from toolevals.grading.values.canonical import INTEGER_LIMIT, MAX_DIGITS
from toolevals.grading.values.documents import text_problem
from toolevals.json_types import JsonObject

MAX_LENGTH = 100_000
MAX_NESTING = 60
# Python reads formatted strings in quadratic time. They are no literals, and in longer text they are not even read.
_MAX_FORMATTED = 10_000

# Stands for the first letter of a reserved word, so that Python takes it for a name and every place stays.
_MARK = "ʘ"
_RESERVED = re.compile(rf"\b(?:{'|'.join(keyword.kwlist)})\b")
_BRACKET_OR_QUOTE = re.compile(r"""\\.|["'()\[\]{}]""", re.DOTALL)
_FORMATTED = re.compile(r"(?:^|\W)(?:[fF][rR]?|[rR][fF])$")
_LONG_INTEGER = re.compile(rf"[0-9][0-9_]{{{MAX_DIGITS},}}")
_LINE_END = re.compile(rb"\r\n|\r|\n")


class UnreadableCallError(ValueError):
    """Text that is no call in Python's syntax; `position` counts characters."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = position


class PythonSource:
    """A text and its tree. Raises UnreadableCallError where it is not Python or is beyond the limits."""

    def __init__(self, text: str) -> None:
        _check(text)
        self.text = text
        try:
            self.tree = _tree(text)
            self._read = text
        except SyntaxError as first:
            self._read = _without_reserved_words(text)
            try:
                self.tree = _tree(self._read)
            except SyntaxError:
                if "integer string" in (first.msg or "") and (long := _LONG_INTEGER.search(text)):
                    reason = f"an integer has more than {MAX_DIGITS:,} digits"
                    raise UnreadableCallError(reason, long.start()) from None
                position = _character(text, first.lineno or 1, (first.offset or 1) - 1)
                raise UnreadableCallError(f"not a call: {first.msg}", position) from None

    def start(self, node: ast.expr | ast.keyword) -> int:
        """Return where a node begins, in characters."""
        return self._place(node.lineno, node.col_offset)

    def end(self, node: ast.expr) -> int:
        """Return where a node ends, in characters."""
        return self._place(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)

    def _place(self, line: int, byte: int) -> int:
        place = self._line_starts[line - 1] + byte
        return self._characters[place] if self._characters else place

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in _LINE_END.finditer(self._read.encode()))]

    @cached_property
    def _characters(self) -> list[int]:
        """For every byte of the text, and its end, the character that it belongs to; nothing where they are one."""
        if self._read.isascii():
            return []
        made: list[int] = []
        for place, character in enumerate(self._read):
            made.extend([place] * len(character.encode()))
        return [*made, len(self._read)]


def brackets(text: str, start: int = 0) -> Iterator[tuple[int, str]]:
    """Yield every bracket outside of quotes, with its place."""
    return ((place, mark) for place, mark in _marks(text, start) if mark not in "\"'")


def _marks(text: str, start: int) -> Iterator[tuple[int, str]]:
    """Yield every bracket outside of quotes and every quote that opens, with its place."""
    quote = ""
    for match in _BRACKET_OR_QUOTE.finditer(text, start):
        found = match.group()
        if quote:
            quote = "" if found == quote else quote
        elif len(found) == 1:
            quote = found if found in "\"'" else ""
            yield match.start(), found


def _check(text: str) -> None:
    if len(text) > MAX_LENGTH:
        raise UnreadableCallError(f"longer than {MAX_LENGTH:,} characters", MAX_LENGTH)
    if (problem := text_problem(text)) is not None:
        position = next(place for place, each in enumerate(text) if each == "\0" or "\ud800" <= each <= "\udfff")
        raise UnreadableCallError(f"not a call: it {problem}", position)
    depth = 0
    for place, mark in _marks(text, 0):
        if mark in "\"'":
            if len(text) > _MAX_FORMATTED and _FORMATTED.search(text[max(place - 3, 0) : place]):
                raise UnreadableCallError("a formatted string is not a literal", place)
            continue
        depth += 1 if mark in "([{" else -1
        if depth > MAX_NESTING:
            raise UnreadableCallError(f"nested deeper than {MAX_NESTING} levels", place)


def _tree(text: str) -> ast.Module:
    with warnings.catch_warnings():
        # Odd escapes and the like; they are the text's own.
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (ValueError, RecursionError, MemoryError) as error:
            raise SyntaxError(str(error) or "too deeply nested") from None


def _without_reserved_words(text: str) -> str:
    """Return the text with reserved words marked where a name stands: before `=`, or in the name of a tool."""
    if not _RESERVED.search(text):
        return text
    try:
        tokens = [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type != tokenize.NL]
    except (SyntaxError, tokenize.TokenError):
        return text
    starts = [0, *accumulate(len(line) for line in io.StringIO(text))]
    characters = list(text)
    before = ""
    for token, following in pairwise(tokens):
        if token.type == tokenize.NAME and keyword.iskeyword(token.string) and _is_name(before, following.string):
            row, column = token.start
            characters[starts[row - 1] + column] = _MARK
        before = token.string.strip()
    return "".join(characters)


def _is_name(before: str, after: str) -> bool:
    if before == ".":
        return True
    return before in {"", "(", "[", ",", ";"} and after in {"=", "(", "."}


def _character(text: str, line: int, column: int) -> int:
    """Return a place that Python gives by line and character, within the text."""
    starts = [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", text))]
    return min(starts[min(line, len(starts)) - 1] + max(column, 0), len(text))


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


def _read(name: str | None, call: ast.Call, source: PythonSource, names: Sequence[str]) -> tuple[str, JsonObject]:
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


def _object(node: ast.Dict) -> JsonObject:
    made: JsonObject = {}
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
        raise _BadNodeError("a sign before what is not a number", node)
    return -value if negative else value
