"""Matches names of tools, models and servers by globs: `*` is any text, `?` one character, all else is itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from toolevals.grading.guard.decoding import uncovered
from toolevals.grading.values.matchers import CompiledPattern, compile_pattern

# What stands between a server's or a namespace's name and the tool's.
_SEPARATOR = re.compile(r"__|[.:/]")
_MOST_ENDINGS = 20


class Names:
    """Names by globs. A name matches as a whole, in its case."""

    def __init__(self, globs: Iterable[str]) -> None:
        globs = tuple(globs)
        self.holds_all = "*" in globs
        self._exact = frozenset(glob for glob in globs if not _is_pattern(glob))
        self._patterns = tuple(_compiled(glob) for glob in globs if _is_pattern(glob))

    def holds(self, name: str) -> bool:
        """Tell whether a name matches one of the globs."""
        if self.holds_all or name in self._exact:
            return True
        return bool(self._patterns) and any(pattern.search(_clean(name)) for pattern in self._patterns)


class DeniedNames:
    """Names that are refused, however they are written.

    Case, hidden characters and look-alike letters do not matter, nor does what stands before `__`, `.`, `:` or `/`.
    With `suffixes` a name also matches where it ends in `_` and one of the names.
    """

    def __init__(self, globs: Iterable[str], *, suffixes: bool = False) -> None:
        folded = [glob.casefold() for glob in globs]
        self._names = Names([*folded, *(f"*_{glob}" for glob in folded)] if suffixes else folded)

    def hold(self, name: str) -> bool:
        """Tell whether a name, or its end, matches one of the globs."""
        plain = uncovered(name).casefold()
        return self._names.holds(plain) or any(self._names.holds(ending) for ending in _endings(plain))


def _endings(name: str) -> Iterator[str]:
    places = [found.end() for found in _SEPARATOR.finditer(name)]
    yield from (name[place:] for place in places[-_MOST_ENDINGS:])


def _is_pattern(glob: str) -> bool:
    return "*" in glob or "?" in glob


def _compiled(glob: str) -> CompiledPattern:
    written = "".join({"*": ".*", "?": "."}.get(each) or _literal(each) for each in glob)
    return compile_pattern(rf"(?s)\A{written}\z")


def _literal(character: str) -> str:
    return character if character.isalnum() or character == "_" or not character.isascii() else f"\\{character}"


def _clean(name: str) -> str:
    """Return a name as RE2 takes it, without lone surrogates."""
    return name if name.isascii() else name.encode("utf-8", "replace").decode()
