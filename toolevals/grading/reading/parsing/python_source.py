"""Reads text as a Python syntax tree, with places that count characters and words that Python reserves."""

from __future__ import annotations

import ast
import io
import keyword
import re
import tokenize
import warnings
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate, pairwise

from toolevals.grading.values.canonical import MAX_DIGITS
from toolevals.grading.values.documents import text_problem

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
