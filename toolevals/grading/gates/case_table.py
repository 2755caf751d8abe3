"""Counts cases by what is distinct: a gate's cost grows with the kinds of cases and hardly with their number."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from math import isnan, nan
from typing import Any, Self, get_args

from toolevals.grading.gates.results import GateCase, Measure

MEASURES: tuple[Measure, ...] = get_args(Measure)

# The scores of one example's trials, those that a metric arises in; None where no one has answered.
Scores = tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Tally:
    """The number of examples that are alike: `counts` by the kinds of their cases, in order, as places in `kinds`.

    `taken` is what cases of each kind took, as far as it is known.
    """

    kinds: Sequence[GateCase]
    counts: Mapping[tuple[int, ...], int]
    taken: Mapping[Measure, Mapping[int, Sequence[float]]] = field(default_factory=dict)

    def cases(self) -> Iterator[tuple[int, int]]:
        """Yield each kind that occurs, and how many cases are of it."""
        found: Counter[int] = Counter()
        for numbers, count in self.counts.items():
            for number in numbers:
                found[number] += count
        yield from found.items()

    def outcomes(self, metric: str | None, *, marks: bool = False) -> Counter[Scores]:
        """Return how many examples have each scores of a metric, of all metrics together where it is None.

        With `marks` each score is 1 where the case passed and 0 where it failed.
        """
        scores = [
            tuple(kind.mark(name) if marks else kind.score(name) for name in kind.asked(metric)) for kind in self.kinds
        ]
        found: Counter[Scores] = Counter()
        for numbers, count in self.counts.items():
            found[tuple(score for number in numbers for score in scores[number])] += count
        del found[()]
        return found

    def grouped(self, groups: Sequence[str | None]) -> dict[str, Tally]:
        """Return the tally of each group, by the group of each kind; those of None are left out."""
        parts: defaultdict[str, Counter[tuple[int, ...]]] = defaultdict(Counter)
        for numbers, count in self.counts.items():
            members: defaultdict[str, list[int]] = defaultdict(list)
            for number in numbers:
                if (group := groups[number]) is not None:
                    members[group].append(number)
            for group, each in members.items():
                parts[group][tuple(each)] += count
        return {group: replace(self, counts=counts) for group, counts in parts.items()}


# Not slotted: what is counted is kept.
@dataclass(frozen=True, eq=False)
class CaseTable:
    """The cases of a run, in order.

    `kinds` are the distinct cases, without whose they are, and `names` the examples. Each case has a place in `names`
    in `examples`, and one in `kinds` in `numbers`. `measures` are what each case took, NaN where no one says it; one
    that no case says may be left out.
    """

    kinds: Sequence[GateCase]
    names: Sequence[str]
    examples: Sequence[int]
    numbers: Sequence[int]
    measures: Mapping[Measure, Sequence[float]] = field(default_factory=dict)

    @classmethod
    def of(cls, cases: Iterable[GateCase]) -> Self:
        """Return cases as a table."""
        kinds: dict[tuple[Any, ...], int] = {}
        distinct: list[GateCase] = []
        names: dict[str, int] = {}
        examples, numbers = array("I"), array("I")
        runtimes, costs, tokens = array("d"), array("d"), array("d")
        for case in cases:
            number = kinds.setdefault(_key(case), len(kinds))
            if number == len(distinct):
                distinct.append(replace(case, example="", trial=0, runtime_ms=None, cost=None, tokens=None))
            runtimes.append(nan if case.runtime_ms is None else case.runtime_ms)
            costs.append(nan if case.cost is None else case.cost)
            tokens.append(nan if case.tokens is None else case.tokens)
            examples.append(names.setdefault(case.example, len(names)))
            numbers.append(number)
        return cls(distinct, list(names), examples, numbers, {"latency": runtimes, "cost": costs, "tokens": tokens})

    @classmethod
    def joined(cls, tables: Sequence[CaseTable]) -> Self:
        """Return the cases of several tables as one, in order."""
        kinds: dict[tuple[Any, ...], int] = {}
        distinct: list[GateCase] = []
        names: dict[str, int] = {}
        examples, numbers = array("I"), array("I")
        measures: dict[Measure, array[float]] = {name: array("d") for name in MEASURES}
        for table in tables:
            kind_numbers = []
            for kind in table.kinds:
                number = kinds.setdefault(_key(kind), len(kinds))
                if number == len(distinct):
                    distinct.append(kind)
                kind_numbers.append(number)
            places = [names.setdefault(name, len(names)) for name in table.names]
            examples.extend(map(places.__getitem__, table.examples))
            numbers.extend(map(kind_numbers.__getitem__, table.numbers))
            for name, values in measures.items():
                values.extend(table.measures.get(name) or array("d", [nan]) * len(table.numbers))
        return cls(distinct, list(names), examples, numbers, measures)

    def __iter__(self) -> Iterator[GateCase]:
        """Yield each case, without its trial and its runtime."""
        for example, number in zip(self.examples, self.numbers, strict=True):
            yield replace(self.kinds[number], example=self.names[example])

    def reading(self, sources: Mapping[str, str]) -> CaseTable:
        """Return the same cases, in which these metrics answer the published names."""
        return replace(self, kinds=[replace(kind, sources=sources) for kind in self.kinds])

    def merged(self, change: Callable[[GateCase], GateCase]) -> CaseTable:
        """Return the same cases, each kind changed, where kinds may become equal."""
        merged = CaseTable.of(map(change, self.kinds))
        numbers = array("I", map(merged.numbers.__getitem__, self.numbers))
        return CaseTable(merged.kinds, self.names, self.examples, numbers, self.measures)

    @cached_property
    def patterns(self) -> tuple[Sequence[int], Sequence[tuple[int, ...]]]:
        """The pattern of each example, and the kinds that each pattern stands for, in order; pattern 0 is no case."""
        return chained(len(self.names), zip(self.examples, self.numbers, strict=True))

    @cached_property
    def tally(self) -> Tally:
        """All examples, counted."""
        by_example, patterns = self.patterns
        counts = {patterns[pattern]: count for pattern, count in Counter(by_example).items()}
        return Tally(self.kinds, counts, self.taken)

    @cached_property
    def taken(self) -> Mapping[Measure, Mapping[int, Sequence[float]]]:
        """The amounts that the cases of each kind took, as far as it is known."""
        found: dict[Measure, Mapping[int, Sequence[float]]] = {}
        for name, values in self.measures.items():
            by_kind: defaultdict[int, array[float]] = defaultdict(lambda: array("d"))
            for number, value in zip(self.numbers, values, strict=True):
                if not isnan(value):
                    by_kind[number].append(value)
            found[name] = dict(by_kind)
        return found

    def missing(
        self, measure: Measure, wanted: Sequence[bool], meets: Callable[[float], bool], *, unknown: bool
    ) -> Iterator[str]:
        """Yield the example of each case of the wanted kinds that took what does not meet a condition, in order.

        With `unknown` also those of whose cases no one says what they took.
        """
        values = self.measures.get(measure) or array("d", [nan]) * len(self.numbers)
        for example, number, value in zip(self.examples, self.numbers, values, strict=True):
            if wanted[number] and (unknown if isnan(value) else not meets(value)):
                yield self.names[example]

    def named(self, groups: Sequence[Sequence[str]]) -> dict[str, list[str]]:
        """Return the names of each group's examples, each once and in order, by the groups of each kind."""
        found: defaultdict[str, dict[int, None]] = defaultdict(dict)
        wanted = map([bool(each) for each in groups].__getitem__, self.numbers)
        for example, number in compress(zip(self.examples, self.numbers, strict=True), wanted):
            for group in groups[number]:
                found[group][example] = None
        return {group: [self.names[example] for example in examples] for group, examples in found.items()}


def _key(case: GateCase) -> tuple[Any, ...]:
    """Return what makes a case distinct, whosoever it is."""
    scores, passed, strata = case.scores.items(), case.passed.items(), case.strata.items()
    return tuple(scores), tuple(passed), case.tool, case.called, tuple(strata), case.failures


def chained(size: int, numbers: Iterable[tuple[int, int]]) -> tuple[array[int], list[tuple[int, ...]]]:
    """Return a pattern for each of `size` places, and the numbers that each pattern stands for, from (place, number).

    The numbers of a place keep their order. Pattern 0 is that of a place without any.
    """
    by_place = array("I", bytes(4 * size))
    patterns: list[tuple[int, ...]] = [()]
    longer: dict[tuple[int, int], int] = {}
    for place, number in numbers:
        step = by_place[place], number
        pattern = longer.get(step)
        if pattern is None:
            pattern = longer[step] = len(patterns)
            patterns.append((*patterns[step[0]], number))
        by_place[place] = pattern
    return by_place, patterns
