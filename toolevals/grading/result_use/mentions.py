"""A value as it stands in a text."""

from __future__ import annotations

from typing import NamedTuple

from toolevals.grading.result_use.values import ClaimKind, Key

_NAN = float("nan")


class Mention(NamedTuple):
    """One value in a text, at `start` to `end`, under each key that it may be looked up by, the likeliest first.

    `unit` is a name of `lexicon.UNITS` or an ISO 4217 code, empty where none is said. `step` is what one of the last
    digit that is written is worth. `zone` is in minutes east of Greenwich. `is_weak` marks a number so small and bare,
    or a quotation so short, that it may state nothing about a result.
    """

    start: int
    end: int
    kind: ClaimKind
    keys: tuple[Key, ...]
    unit: str = ""
    step: float = 1.0
    zone: int | None = None
    is_weak: bool = False

    @property
    def value(self) -> float:
        """The number; NaN for what is none."""
        first = self.keys[0] if self.keys else None
        return _NAN if isinstance(first, str | tuple | None) else first
