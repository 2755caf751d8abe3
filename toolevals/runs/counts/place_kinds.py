"""Work out once what comparing asks of the places of a grading's examples in its matrix of first calls."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, compress
from operator import add, sub
from typing import Final, Self

from toolevals.runs.counts.kept_numbers import numbers_from_bytes, numbers_to_bytes, small_array
from toolevals.runs.counts.outcome_patterns import OutcomePatterns, Trials

# A wrong call: the example, the place of the class called among the names, and how many trials call it.
WrongCall = tuple[int, int, int]
# Wrong calls that are alike: the kind of the example, the class called, and how many trials call it.
_Alike = tuple[int, int, int]
_ROW: Final = 4


@dataclass(frozen=True, slots=True)
class WrongSums:
    """The sums of what examples hold of wrong cells, as rows of four.

    `cells`: (place of the cell, trials with a place that these examples have, trials in the cell, examples).
    `classes`: (place of the class called, trials that call it, trials with a place that these examples have, examples).
    """

    cells: Sequence[tuple[int, int, int, int]]
    classes: Sequence[tuple[int, int, int, int]]


@dataclass(frozen=True, slots=True)
class PlaceKinds:
    """The kinds of examples by their trials' places, and the wrong calls of those that expect one class.

    `names` are those of the classes, sorted, and `cells` those of the run in its order: (place of what is expected
    among the names)·(number of names) + (place of what is called). `numbers` by example are places in `due`, `right`
    and `placed`: the place among the names, counted from 1, of the one class that all trials with a place expect, or 0
    where they expect none or several; how many are right; how many have a place. Of examples with `due`, each class
    that is called wrongly has a key, (example)·(number of names) + (place of the class): `steps` are the differences
    of the keys in order, and `often` the trials of a key where they are several. `sums` are those of all of them.
    """

    names: tuple[str, ...]
    cells: array[int]
    numbers: array[int]
    due: array[int]
    right: array[int]
    placed: array[int]
    steps: array[int]
    often: Mapping[int, int]
    sums: WrongSums

    @classmethod
    def of(cls, run: OutcomePatterns) -> Self:
        """Return those of a grading, worked out."""
        size = run.trials + 1
        names = sorted(set(chain.from_iterable(run.cells)))
        ranks, many = {name: rank for rank, name in enumerate(names)}, len(names)
        cells = [(ranks[expected], ranks[called]) for expected, called in run.cells]
        # By the number of a cell, 0 no cell; what is right is no wrong call.
        dues = [0, *(expected + 1 for expected, _ in cells)]
        weights = [0, *(size + 1 if expected == called else 1 for expected, called in cells)]
        calls = [-1, *(-1 if expected == called else called for expected, called in cells)]
        patterns = list(map(in_tuple, run.places.distinct))
        # A column for each trial: what is asked of all patterns at once costs little.
        columns = list(zip(*patterns, strict=True))
        by_trial = [map(dues.__getitem__, column) for column in columns]
        # Trials without a place come first.
        due = [each[-1] if {0, each[-1]}.issuperset(each) else 0 for each in zip(*by_trial, strict=True)]
        kinds = [each * size * size for each in due]
        for column in columns:
            kinds = list(map(add, kinds, map(weights.__getitem__, column)))
        known = {kind: place for place, kind in enumerate(dict.fromkeys(kinds))}
        places = list(map(known.__getitem__, kinds))
        of_trials = zip(*[map(calls.__getitem__, column) for column in columns], strict=True)
        wrong = [_often(each) if one else () for each, one in zip(of_trials, due, strict=True)]
        found = run.places.numbers
        plain = cls(
            names=tuple(names),
            cells=small_array([expected * many + called for expected, called in cells]),
            numbers=small_array(list(map(places.__getitem__, found))),
            due=small_array([kind // size**2 for kind in known]),
            right=small_array([kind // size % size for kind in known]),
            placed=small_array([kind % size for kind in known]),
            steps=small_array(()),
            often={},
            sums=WrongSums((), ()),
        )
        alike: Counter[_Alike] = Counter()
        for number, count in Counter(found).items():
            for called, trials in wrong[number]:
                alike[places[number], called, trials] += count
        calling = compress(enumerate(found), map(wrong.__getitem__, found))
        keys = ((each * many + called, trials) for each, number in calling for called, trials in wrong[number])
        return plain._with_calls(keys, alike)

    def _with_calls(self, calls: Iterable[tuple[int, int]], alike: Mapping[_Alike, int]) -> Self:
        """Return the same with these wrong calls: the keys and trials of them in order, and examples with one alike."""
        every = list(calls)
        keys = [key for key, _ in every]
        steps = small_array(list(map(sub, keys, [0, *keys[:-1]])))
        often = {key: trials for key, trials in every if trials > 1}
        return replace(self, steps=steps, often=often, sums=self._sums(alike))

    def of_examples(self, examples: Sequence[int]) -> Self:
        """Return the same of some examples, in their order."""
        places = [-1] * len(self.numbers)
        for place, example in enumerate(examples):
            places[example] = place
        many = len(self.names)
        rows = [(places[each], called, trials) for each, called, trials in self.wrong_calls() if places[each] >= 0]
        rows.sort()
        found = replace(self, numbers=array(self.numbers.typecode, map(self.numbers.__getitem__, examples)))
        return found._with_calls(((each * many + called, trials) for each, called, trials in rows), found._alike(rows))

    def keys(self) -> Iterator[int]:
        """Yield the key of each wrong call, in order."""
        return accumulate(self.steps)

    def wrong_calls(self) -> Iterator[WrongCall]:
        """Yield the wrong calls of the examples that expect one class."""
        many, often = len(self.names), self.often
        for key in self.keys():
            yield key // many, key % many, often.get(key, 1)

    def sums_of(self, calls: Iterable[WrongCall]) -> WrongSums:
        """Return the sums of some wrong calls."""
        return self._sums(self._alike(calls))

    def _alike(self, calls: Iterable[WrongCall]) -> Counter[_Alike]:
        return Counter((self.numbers[example], called, trials) for example, called, trials in calls)

    def _sums(self, alike: Mapping[_Alike, int]) -> WrongSums:
        many = len(self.names)
        places = {cell: place for place, cell in enumerate(self.cells)}
        cells: dict[tuple[int, int], tuple[int, int]] = {}
        classes: Counter[tuple[int, int, int]] = Counter()
        for (kind, called, trials), count in alike.items():
            placed = self.placed[kind]
            cell = places[(self.due[kind] - 1) * many + called], placed
            held = cells.get(cell, (0, 0))
            cells[cell] = held[0] + trials * count, held[1] + count
            classes[called, trials, placed] += count
        return WrongSums([(*cell, *held) for cell, held in cells.items()], [(*each, n) for each, n in classes.items()])

    def to_bytes(self) -> bytes:
        """Return them as they are kept."""
        return numbers_to_bytes(
            self.names,
            [
                *(self.cells, self.numbers, self.due, self.right, self.placed, self.steps),
                *(list(self.often), list(self.often.values())),
                *_columns(self.sums.cells),
                *_columns(self.sums.classes),
            ],
        )

    @classmethod
    def from_bytes(cls, kept: bytes) -> Self:
        """Return what `to_bytes` gave."""
        names, (cells, numbers, due, right, placed, steps, keys, trials, *sums) = numbers_from_bytes(kept)
        often = dict(zip(keys, trials, strict=True))
        rows = [list(zip(*columns, strict=True)) for columns in (sums[:_ROW], sums[_ROW:])]
        return cls(tuple(names), cells, numbers, due, right, placed, steps, often, WrongSums(rows[0], rows[1]))


def _columns(rows: Sequence[tuple[int, ...]]) -> list[Sequence[int]]:
    return list(zip(*rows, strict=True)) or [()] * _ROW


def _often(calls: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return each class that is called wrongly, in order, with how many trials call it; -1 is no wrong call."""
    return tuple((called, calls.count(called)) for called in sorted(set(calls)) if called >= 0)


def in_tuple(trials: Trials) -> tuple[int, ...]:
    """Return the numbers of an example's trials."""
    return trials if isinstance(trials, tuple) else (trials,)
