"""Work out once what comparing asks of the places of a grading's examples in its matrix of first calls."""

from __future__ import annotations

import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from operator import add, or_
from typing import Final, Self

from toolevals.runs.counts.outcome_patterns import OutcomePatterns, Trials
from toolevals.runs.counts.packed_cases import in_little_order

# (number of a cell, the trials of an example in it, those with a place): -> how many examples.
WrongRow = tuple[int, int, int]
# Bits of a sign.
_SIGNS: Final = 32


@dataclass(frozen=True, slots=True)
class PlaceKinds:
    """The kinds of examples by their trials' places; cells are numbers in `OutcomePatterns.cells`, counted from 1.

    `numbers` by example are places in `due`, `right` and `placed`: the first cell of the one class that all trials with
    a place expect, or 0 where they expect none or several; how many are right; how many have a place. In `signs`, by
    example, each class that is called wrongly sets a bit, which some classes share. `wrong` are the examples in cells
    that are not right.
    """

    numbers: array[int]
    signs: array[int]
    due: array[int]
    right: array[int]
    placed: array[int]
    wrong: Mapping[WrongRow, int]

    @classmethod
    def of(cls, run: OutcomePatterns) -> Self:
        """Return those of a grading: what was kept of it, or else worked out."""
        return cls._from_bytes(run.kinds) if run.kinds else cls.worked_out(run)

    @classmethod
    def worked_out(cls, run: OutcomePatterns) -> Self:
        """Return those of a grading, worked out."""
        size, firsts = run.trials + 1, dict[str, int]()
        dues, weights, bits = [0], [0], [0]
        for number, (expected, called) in enumerate(run.cells, 1):
            dues.append(firsts.setdefault(expected, number))
            weights.append(size + 1 if expected == called else 1)
            bits.append(0 if expected == called else 1 << zlib.crc32(called.encode()) % _SIGNS)
        patterns = list(map(in_tuple, run.places.distinct))
        # A column for each trial: what is asked of all patterns at once costs little.
        columns = list(zip(*patterns, strict=True))
        by_trial = [map(dues.__getitem__, column) for column in columns]
        # Trials without a place come first.
        due = [each[-1] if {0, each[-1]}.issuperset(each) else 0 for each in zip(*by_trial, strict=True)]
        kinds, signs = [each * size * size for each in due], [0] * len(patterns)
        for column in columns:
            kinds = list(map(add, kinds, map(weights.__getitem__, column)))
            signs = list(map(or_, signs, map(bits.__getitem__, column)))
        known = {kind: place for place, kind in enumerate(dict.fromkeys(kinds))}
        places = list(map(known.__getitem__, kinds))
        return cls(
            array("I", map(places.__getitem__, run.places.numbers)),
            array("I", map(signs.__getitem__, run.places.numbers)),
            array("I", (kind // size**2 for kind in known)),
            array("I", (kind // size % size for kind in known)),
            array("I", (kind % size for kind in known)),
            wrong_rows(run, run.places.numbers),
        )

    def to_bytes(self) -> bytes:
        """Return them as they are kept."""
        held = array("I", [len(self.numbers), len(self.due)])
        for column in (self.numbers, self.signs, self.due, self.right, self.placed):
            held += column
        held.extend(chain.from_iterable((*row, count) for row, count in self.wrong.items()))
        return zlib.compress(in_little_order(held).tobytes(), 1)

    @classmethod
    def _from_bytes(cls, kept: bytes) -> Self:
        held = array("I")
        held.frombytes(zlib.decompress(kept))
        held = in_little_order(held)
        examples, kinds = held[0], held[1]
        columns, start = [], 2
        for size in (examples, examples, kinds, kinds, kinds):
            columns.append(held[start : start + size])
            start += size
        one = iter(held[start:])
        wrong = {(cell, many, placed): count for cell, many, placed, count in zip(one, one, one, one, strict=True)}
        return cls(columns[0], columns[1], columns[2], columns[3], columns[4], wrong)


def wrong_rows(run: OutcomePatterns, numbers: Iterable[int]) -> Counter[WrongRow]:
    """Return the examples in cells that are not right; `numbers` are places of examples in `run.places.distinct`."""
    is_wrong = [False, *(expected != called for expected, called in run.cells)]
    rows: Counter[WrongRow] = Counter()
    for number, count in Counter(numbers).items():
        for row in wrong_of(run.places.distinct[number], is_wrong):
            rows[row] += count
    return rows


def wrong_of(trials: Trials, is_wrong: list[bool]) -> Iterator[WrongRow]:
    """Yield the cells of an example that are not right."""
    each = in_tuple(trials)
    placed = len(each) - each.count(0)
    for number in set(each):
        if is_wrong[number]:
            yield number, each.count(number), placed


def in_tuple(trials: Trials) -> tuple[int, ...]:
    """Return the numbers of an example's trials."""
    return trials if isinstance(trials, tuple) else (trials,)
