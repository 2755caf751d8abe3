"""Matches regular expressions from users in linear time by RE2, never by backtracking."""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol

import re2

MAX_LENGTH = 2_000


class CompiledPattern(Protocol):
    """A pattern that searches text in linear time."""

    def search(self, text: str) -> object | None: ...


@lru_cache(maxsize=4096)
def compile_pattern(pattern: str) -> CompiledPattern:
    """Return the compiled pattern. Raises ValueError where RE2 refuses it: look-around, back-references, size."""
    if len(pattern) > MAX_LENGTH:
        raise ValueError(f"the pattern is longer than {MAX_LENGTH:,} characters")
    options = re2.Options()
    options.log_errors = False
    try:
        compiled: CompiledPattern = re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else error
        words = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise ValueError(f"the pattern is refused: {words}") from None
    return compiled
