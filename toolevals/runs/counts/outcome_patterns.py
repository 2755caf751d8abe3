"""Count examples by their trials' outcomes, in any order: smaller than packed cases, and enough to compare."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self

from toolevals.runs.counts.kept_numbers import numbers_from_bytes, numbers_to_bytes, small_array
from toolevals.runs.counts.packed_cases import Cell, Packed, in_little_order, letters_of

# The number of an example's one trial, or those of its trials, smallest first: trials of an example are alike.
Trials = int | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Patterns:
    """The results of each example's trials: `numbers` by example are places in `distinct`."""

    numbers: array[int]
    distinct: Sequence[Trials]

    @classmethod
    def of(cls, numbers: array[int], most: int, trials: int) -> Self:
        """Return those of so many trials an example; no number is above `most`."""
        if trials == 1:
            return cls(numbers, range(most + 1))
        known: dict[tuple[int, ...], int] = {}
        # Many examples say the same in the same order: that is looked at once.
        said: dict[tuple[int, ...], int] = {}
        by_example = array("I")
        one = iter(numbers)
        for each in zip(*[one] * trials, strict=True):
            number = said.get(each)
            if number is None:
                number = said[each] = known.setdefault(tuple(sorted(each)), len(known))
            by_example.append(number)
        return cls(by_example, list(known))


@dataclass(frozen=True, slots=True)
class OutcomePatterns:
    """The examples of a grading: `verdicts`, `cells` and the numbers of trials are those of Packed."""

    verdicts: tuple[str, ...]
    cells: tuple[Cell, ...]
    outcomes: Patterns
    places: Patterns
    trials: int

    @classmethod
    def of(cls, packed: Packed) -> Self:
        """Return the examples of packed cases."""
        outcomes = Patterns.of(packed.outcomes, len(packed.verdicts), packed.trials)
        places = Patterns.of(packed.places, len(packed.cells), packed.trials)
        return cls(packed.verdicts, packed.cells, outcomes, places, packed.trials)

    @classmethod
    def from_document(cls, document: Any, patterns: bytes, trials: int) -> Self:
        """Return what `Packed.to_document` and `to_bytes` gave. Of several trials an example."""
        held = array("I")
        held.frombytes(zlib.decompress(patterns))
        held = in_little_order(held)
        examples, distinct, start = held[0], held[1], 2 + 2 * held[0]
        middle = start + distinct * trials
        return cls(
            tuple(document["verdicts"]),
            tuple((expected, actual) for expected, actual in document["cells"]),
            Patterns(held[2 : 2 + examples], _in_tuples(held[start:middle], trials)),
            Patterns(held[2 + examples : start], _in_tuples(held[middle:], trials)),
            trials,
        )

    def to_bytes(self) -> bytes:
        """Return the patterns: how many examples and outcomes there are, the numbers, what is distinct."""
        held = array("I", [self.examples, len(self.outcomes.distinct)]) + self.outcomes.numbers + self.places.numbers
        for patterns in (self.outcomes, self.places):
            held.extend(chain.from_iterable(each for each in patterns.distinct if isinstance(each, tuple)))
        return zlib.compress(in_little_order(held).tobytes(), 1)

    @property
    def examples(self) -> int:
        return len(self.outcomes.numbers)

    def letters_of(self, number: int) -> str:
        """Return the letters of a trial's outcome; of no case all are unscored."""
        return letters_of(self.verdicts, number)


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The outcomes of a grading's examples alone; `verdicts` and the numbers of trials are those of Packed."""

    verdicts: tuple[str, ...]
    patterns: Patterns

    @classmethod
    def of(cls, run: OutcomePatterns) -> Self:
        """Return those of a grading."""
        return cls(run.verdicts, Patterns(small_array(run.outcomes.numbers), run.outcomes.distinct))

    @classmethod
    def from_bytes(cls, kept: bytes, trials: int) -> Self:
        """Return what `to_bytes` gave."""
        verdicts, (numbers, distinct) = numbers_from_bytes(kept)
        one = range(len(verdicts) + 1)
        return cls(tuple(verdicts), Patterns(numbers, one if trials == 1 else _in_tuples(distinct, trials)))

    def to_bytes(self) -> bytes:
        """Return them as they are kept."""
        distinct = list(chain.from_iterable(each for each in self.patterns.distinct if isinstance(each, tuple)))
        return numbers_to_bytes(self.verdicts, [self.patterns.numbers, distinct])

    def letters_of(self, number: int) -> str:
        """Return the letters of a trial's outcome; of no case all are unscored."""
        return letters_of(self.verdicts, number)


def _in_tuples(numbers: array[int], trials: int) -> list[Trials]:
    one = iter(numbers)
    return list(zip(*[one] * trials, strict=True))
