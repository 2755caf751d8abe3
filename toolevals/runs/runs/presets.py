"""Runs over a chosen part of a dataset version, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final


@dataclass(frozen=True, slots=True)
class Preset:
    """So many examples by so many trials; `words` say it to people."""

    name: str
    words: str
    examples: int
    trials: int


CONSISTENCY: Final = Preset("consistency", "Consistency: 30 hard examples by 8 trials", 30, 8)
PRESETS: Final[Mapping[str, Preset]] = {CONSISTENCY.name: CONSISTENCY}
HARD = "hard"


@dataclass(frozen=True, slots=True)
class Candidate:
    """An example of the version: its place, what it is called, and what speaks for trying it often."""

    position: int
    external_id: str
    is_hard: bool
    has_failed: bool


def chosen_positions(candidates: Iterable[Candidate], most: int) -> list[int]:
    """Return the places of at most `most` examples, in order: hard ones first, of equals those that failed last.

    What is left to choose is drawn by the hash of the external id, so that the same version and the same last run give
    the same slice everywhere, and examples that are near each other in a dataset do not come together.
    """
    ranked = sorted(candidates, key=lambda each: (not each.is_hard, not each.has_failed, _drawn(each.external_id)))
    return sorted(each.position for each in ranked[:most])


def _drawn(external_id: str) -> bytes:
    return sha256(external_id.encode()).digest()
