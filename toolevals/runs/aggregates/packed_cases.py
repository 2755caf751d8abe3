"""Pack cases as numbers: the distinct outcomes of a grading, and which of them each case has.

A grading keeps its cases packed when it finishes, so that comparing it costs distinct outcomes and not a scan. The
values of a case's metrics are packed in one short text, with the case.
"""

from __future__ import annotations

import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Final, Self, TypeVar

from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.grading.values.verdicts import CaseGrade, Status, Verdict
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.runs.models import Grading, PackedCases

# A verdict's status as a letter.
LETTERS: Final = {"passed": "p", "failed": "f", "unscored": "u", "errored": "e"}
Cell = tuple[str, str]
Number = TypeVar("Number", int, float)
_CHUNK: Final = 5000


@dataclass(frozen=True, slots=True)
class Patterns:
    """The results of each example's trials: `numbers` by example are places in `distinct`.

    Each of `distinct` holds the numbers of the trials, smallest first: trials of an example are alike.
    """

    numbers: array[int]
    distinct: Sequence[tuple[int, ...]]

    @classmethod
    def of(cls, numbers: array[int], trials: int) -> Self:
        """Return those of the numbers of all trials, so many an example."""
        if trials == 1:
            return cls(numbers, [(number,) for number in range(max(numbers, default=0) + 1)])
        one = iter(numbers)
        examples = list(zip(*[one] * trials, strict=True))
        known: dict[tuple[int, ...], int] = {}
        # Many examples say the same in the same order: that is sorted once.
        places = {each: known.setdefault(tuple(sorted(each)), len(known)) for each in dict.fromkeys(examples)}
        return cls(array("I", map(places.__getitem__, examples)), list(known))


# Not slotted: patterns are worked out once.
@dataclass(frozen=True)
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

    def to_document(self) -> JsonObject:
        """Return what the numbers stand for, as JSON."""
        return {"verdicts": list(self.verdicts), "cells": [list(cell) for cell in self.cells]}

    def to_bytes(self) -> bytes:
        """Return the numbers."""
        return zlib.compress(in_little_order(self.outcomes + self.places).tobytes(), 1)

    @property
    def examples(self) -> int:
        return len(self.outcomes) // self.trials

    @cached_property
    def outcome_patterns(self) -> Patterns:
        """The examples by their trials' outcomes."""
        return Patterns.of(self.outcomes, self.trials)

    @cached_property
    def place_patterns(self) -> Patterns:
        """The examples by their trials' places in the matrix."""
        return Patterns.of(self.places, self.trials)

    def letters_of(self, number: int) -> str:
        """Return the letters of a number of `outcomes`; of no case all are unscored."""
        return self.verdicts[number - 1] if number else LETTERS["unscored"] * len(VERDICT_NAMES)


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


def packed_store(grading: Grading, packed: Packed) -> None:
    """Keep the packed cases of a grading; a second time changes nothing."""
    kept = PackedCases(grading=grading, document=packed.to_document(), numbers=packed.to_bytes())
    PackedCases.objects.bulk_create([kept], ignore_conflicts=True)


def packed_cases(grading: Grading) -> Packed:
    """Return the packed cases of a finished grading; one from before they were kept is packed now."""
    return next(packed_cases_of([grading]))


def packed_cases_of(gradings: Sequence[Grading]) -> Iterator[Packed]:
    """Yield the same of each of several finished gradings, read with their runs, in their order: by one query.

    That of each that was not kept before costs some more.
    """
    kept = PackedCases.objects.in_bulk([grading.pk for grading in gradings])
    for grading in gradings:
        if row := kept.get(grading.pk):
            yield Packed.from_document(row.document, bytes(row.numbers), grading.run.trials)
        else:
            packed = _packed_now(grading)
            packed_store(grading, packed)
            yield packed


def _packed_now(grading: Grading) -> Packed:
    """Read the cases of a grading, and return them packed."""
    rows = grading.cases.order_by().values_list(
        "transcript__entry__position", "transcript__trial", "expected", "actual", *VERDICT_NAMES
    )
    return Packed.of_cases(grading.run.positions, grading.run.trials, rows.iterator(chunk_size=_CHUNK))


def in_little_order(numbers: array[Number]) -> array[Number]:
    """Return numbers of this machine in the order that is kept, or the other way around."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


_NO_VALUE: Final = "-"
_STATUSES: Final[Mapping[str, Status]] = {
    LETTERS["passed"]: "passed",
    LETTERS["failed"]: "failed",
    LETTERS["unscored"]: "unscored",
    LETTERS["errored"]: "errored",
}


@dataclass(frozen=True, slots=True)
class MeasuredCase:
    """The values of one case. `verdicts` are those of failed verdicts that are not 0."""

    metrics: Mapping[str, tuple[Status, float | None]] = field(default_factory=dict)
    verdicts: Mapping[str, float] = field(default_factory=dict)


def metric_names(graders: Iterable[JsonMapping]) -> tuple[str, ...]:
    """Return the metrics that a grading was made with, in the order of its graders; none in one from before."""
    return tuple(grader["name"] for grader in graders if grader["name"] not in VERDICT_NAMES)


def measured_text(metrics: Mapping[str, Verdict], grade: CaseGrade) -> str:
    """Return the text that is kept of a case. No words of its grade are worked out for it.

    `ppu 1 0.75 - recovery=0.5`: a letter for each metric of the grading in the order of its graders, so that a list is
    narrowed by one letter; then a value for each, `-` where there is none; then what a failed verdict is worth if not
    0.
    """
    statuses = grade.statuses
    letters = "".join(LETTERS[verdict.status] for verdict in metrics.values())
    values = (_NO_VALUE if each.value is None else f"{each.value!r}".removesuffix(".0") for each in metrics.values())
    shares = (f"{name}={value!r}" for name, value in grade.values.items() if value and statuses[name] == "failed")
    return " ".join((letters, *values, *shares))


@lru_cache(maxsize=65536)
def measured_case(text: str, names: tuple[str, ...]) -> MeasuredCase:
    """Return the values in a text, by the names of `metric_names`. Most cases are like others, so they are kept."""
    if not text:
        return MeasuredCase()
    letters, *rest = text.split(" ")
    values = [None if each == _NO_VALUE else float(each) for each in rest[: len(letters)]]
    metrics = {name: (_STATUSES[letter], value) for name, letter, value in zip(names, letters, values, strict=True)}
    shares = (each.split("=") for each in rest[len(letters) :])
    return MeasuredCase(metrics, {name: float(value) for name, value in shares})
