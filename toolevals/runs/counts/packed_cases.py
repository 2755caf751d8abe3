"""Pack cases as numbers: the distinct outcomes of a grading, and which of them each case has."""

from __future__ import annotations

import sys
import zlib
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self, TypeVar

from toolevals.grading.values.verdict_table import VERDICT_NAMES

# A verdict's status as a letter.
LETTERS: Final = {"passed": "p", "failed": "f", "unscored": "u", "errored": "e"}
Cell = tuple[str, str]
Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True)
class Packed:
    """The cases of a grading.

    `outcomes` holds, by example in the run's order and then by trial, a place in `verdicts`, counted from 1: a letter
    for each of VERDICT_NAMES. `places` likewise holds a place in `cells` of the matrix of first calls, (expected,
    actual). 0 is no case, and in `places` also one outside the matrix.
    """

    verdicts: tuple[str, ...]
    cells: tuple[Cell, ...]
    outcomes: array[int]
    places: array[int]
    trials: int

    @staticmethod
    def of_cases(positions: Sequence[int], trials: int, cases: Iterable[Sequence[Any]]) -> Packed:
        """Return the cases packed: rows of (position, trial, expected, actual, then a status for each verdict)."""
        packing = Packing(positions, trials)
        for position, trial, expected, actual, *statuses in cases:
            packing.add(position, trial, expected, actual, tuple(statuses))
        return packing.packed()

    @classmethod
    def from_document(cls, document: Any, numbers: bytes, trials: int) -> Self:
        """Return what `to_document` and `to_bytes` gave."""
        both = array("I")
        both.frombytes(zlib.decompress(numbers))
        both = in_little_order(both)
        half = len(both) // 2
        cells = tuple((expected, actual) for expected, actual in document["cells"])
        return cls(tuple(document["verdicts"]), cells, both[:half], both[half:], trials)

    def to_document(self) -> dict[str, Any]:
        """Return what the numbers stand for, as JSON."""
        return {"verdicts": list(self.verdicts), "cells": [list(cell) for cell in self.cells]}

    def to_bytes(self) -> bytes:
        """Return the numbers."""
        return zlib.compress(in_little_order(self.outcomes + self.places).tobytes(), 1)

    @property
    def examples(self) -> int:
        return len(self.outcomes) // self.trials

    def letters_of(self, number: int) -> str:
        """Return the letters of a number of `outcomes`; of no case all are unscored."""
        return letters_of(self.verdicts, number)


class Packing:
    """Packs the cases of a grading one by one; `positions` are those of its examples, in order."""

    def __init__(self, positions: Sequence[int], trials: int) -> None:
        self._trials = trials
        self._starts = {position: place * trials for place, position in enumerate(positions)}
        self._outcomes, self._places = (array("I", bytes(4 * len(self._starts) * trials)) for _ in range(2))
        self._verdicts: dict[tuple[str, ...], int] = {}
        self._cells: dict[Cell, int] = {}

    def add(self, position: int, trial: int, expected: str, actual: str, statuses: tuple[str, ...]) -> None:
        """Take in a case; one outside the positions and trials of the run is left out."""
        if (start := self._starts.get(position)) is None or trial >= self._trials:
            return
        self._outcomes[start + trial] = self._verdicts.setdefault(statuses, len(self._verdicts) + 1)
        if expected:
            self._places[start + trial] = self._cells.setdefault((expected, actual), len(self._cells) + 1)

    def packed(self) -> Packed:
        """Return what was taken in."""
        letters = ("".join(LETTERS[status] for status in statuses) for statuses in self._verdicts)
        return Packed(tuple(letters), tuple(self._cells), self._outcomes, self._places, self._trials)


def letters_of(verdicts: Sequence[str], number: int) -> str:
    """Return the letters of a place in `verdicts`, counted from 1; of 0 all are unscored."""
    return verdicts[number - 1] if number else LETTERS["unscored"] * len(VERDICT_NAMES)


def in_little_order(numbers: array[Number]) -> array[Number]:
    """Return numbers of this machine in the order that is kept, or the other way around."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
