"""Values that follow from others by simple arithmetic: counts, sums, differences, products, shares, times between."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from toolevals.grading.result_use.arithmetic import (
    MAX_PAIRED,
    Origin,
    add_pair,
    major,
    rounded,
)
from toolevals.grading.result_use.fields import FieldValue
from toolevals.grading.result_use.lexicon import DIFFERENCE_WORDS, DURATIONS, SUM_WORDS
from toolevals.grading.result_use.mentions import Mention
from toolevals.grading.result_use.replies import Reply
from toolevals.grading.result_use.sources import MAX_COUNT, Sources

# How many numbers, the last said, take part in sums and differences of two.
MAX_OPERANDS = 48
# The newest values among which amounts of one name are added in twos.
MAX_LEGS = 600
# How many numbers of a reply, the first, make sums of neighbours.
MAX_RUN = 100
# Searches for a derivation that found none; after so many of a transcript only what lists and pairs make is known.
MAX_FRUITLESS = 200
# And in sums of several with either sign.
MAX_SUMMED = 10
# Words without which two unsaid numbers make no sum and no difference: any number is one of some two.
_CUES: Mapping[str, frozenset[str]] = {"sum": SUM_WORDS, "difference": DIFFERENCE_WORDS}
_ALL_CUES = SUM_WORDS | DIFFERENCE_WORDS


@dataclass(slots=True)
class Derivations:
    """What follows from the results read so far, and from the numbers that replies gave of them.

    `said` are those numbers. Origins are kept by value: of counts and totals of lists, of pairs of fields, of shares in
    percent, and of minutes between two times.
    """

    sources: Sources
    said: list[float] = field(default_factory=list)
    _done: int = 0
    _paired: int = 0
    _fruitless: int = 0
    _legs_of: int = -1
    _sums: set[float] = field(default_factory=set)
    _totals: dict[float, Origin] = field(default_factory=dict)
    _pairs: dict[float, Origin] = field(default_factory=dict)
    _shares: dict[float, Origin] = field(default_factory=dict)
    _elapsed: dict[float, Origin] = field(default_factory=dict)
    _by_name: dict[str, list[tuple[float, int]]] = field(default_factory=dict)

    def say(self, value: float) -> None:
        """Take a number that a reply gave and that something supports."""
        if not self.said or self.said[-1] != value:
            self.said.append(value)

    def find(self, mention: Mention, reply: Reply, place: int, run: Sequence[float]) -> Origin | None:
        """Return how the number follows, None where it does not.

        `run` are the supported numbers of the same reply, in order.
        """
        self._extend()
        value = rounded(mention.value)
        if mention.kind == "duration" and (
            elapsed := self._elapsed.get(rounded(value * DURATIONS.get(mention.unit, 1.0)))
        ):
            return elapsed
        if mention.kind == "percent":
            self._pair_all()
            return self._shares.get(value) or self._totals.get(value)
        total = self._totals.get(value)
        if total is not None and (total.rule != "count" or mention.kind == "number"):
            return total
        if mention.is_weak or value == 0 or mention.unit == "deg" or self._fruitless >= MAX_FRUITLESS:
            return None
        found = (
            self._from_pair(reply, place, value)
            or self._from_said(mention, reply, place, run)
            or self._from_several(mention, reply, place)
        )
        self._fruitless += found is None
        return found

    def _from_several(self, mention: Mention, reply: Reply, place: int) -> Origin | None:
        """A total of two amounts of one name, from whichever results, for several: two legs of a journey for three."""
        if mention.kind != "amount" or not reply.has_word(place, SUM_WORDS):
            return None
        counts = {count for count in reply.counts if count <= MAX_COUNT} | self.sources.counts | {1}
        for count in sorted(counts - {0}):
            part = rounded(mention.value / count)
            if abs(part * count - mention.value) <= 0.005 and part in self._legs():
                return Origin("product" if count > 1 else "sum")
        return None

    def _legs(self) -> set[float]:
        """Sums of every two of the newest amounts that share a field's name."""
        if self._legs_of != len(self.sources.values):
            by_name: dict[str, list[float]] = {}
            for value in self.sources.values[: -MAX_LEGS - 1 : -1]:
                if value.kind == "number" and value.is_money:
                    by_name.setdefault(value.name, []).append(major(value))
            self._sums = {
                rounded(one + other)
                for numbers in by_name.values()
                for one in set(numbers[:MAX_OPERANDS])
                for other in set(numbers[:MAX_OPERANDS])
            }
            self._legs_of = len(self.sources.values)
        return self._sums

    def _from_pair(self, reply: Reply, place: int, value: float) -> Origin | None:
        if not reply.has_word(place, _ALL_CUES):
            return None
        self._pair_all()
        pair = self._pairs.get(value)
        return pair if pair is not None and reply.has_word(place, _CUES[pair.rule]) else None

    def _from_said(self, mention: Mention, reply: Reply, place: int, run: Sequence[float]) -> Origin | None:
        if mention.kind == "number" and not (reply.has_word(place, _ALL_CUES) or reply.is_in_arithmetic(place)):
            return None
        value = rounded(mention.value)
        counts = {count for count in reply.counts if count <= MAX_COUNT} | self.sources.counts
        counts.add(2)
        if rule := follows(value, run, self.said[-MAX_OPERANDS:], counts):
            return Origin(rule)
        if mention.kind == "amount" and _is_run_sum(value, list(reply.line_ends.values())):
            return Origin("sum")
        if mention.kind == "amount" and (origin := self._from_field(value, run) or self._from_sums(value, run)):
            return origin
        for count in counts - {0, 1}:
            unit = rounded(value / count)
            if unit * count != value and abs(unit * count - value) > 0.005:
                continue
            for key in (unit, rounded(unit * 100)):
                for entry in self.sources.index.get(key, ())[-16:]:
                    held = self.sources.values[entry]
                    if held.is_money and rounded(major(held)) == unit and mention.kind == "amount":
                        return Origin("product", held.result, held.pointer)
        return None

    def _from_field(self, value: float, run: Sequence[float]) -> Origin | None:
        """The difference between a number of this reply and an amount that a result holds."""
        for operand in run[-MAX_OPERANDS:]:
            for other in (rounded(operand - value), rounded(operand + value), rounded(abs(value) - operand)):
                for entry in self.sources.index.get(other, ())[-8:] if other > 0 else ():
                    held = self.sources.values[entry]
                    if held.is_money and not held.is_minor:
                        return Origin("difference", held.result, held.pointer)
        return None

    def _from_sums(self, value: float, run: Sequence[float]) -> Origin | None:
        """A sum of several numbers with either sign: only with cents, where it is no coincidence."""
        if value == int(value):
            return None
        operands = list(dict.fromkeys(reversed([*self.said[-MAX_OPERANDS:], *run])))[:MAX_SUMMED]
        half = len(operands) // 2
        left, right = _signed_sums(operands[:half]), _signed_sums(operands[half:])
        return Origin("sum") if any(rounded(value - part) in right for part in left) else None

    def _extend(self) -> None:
        for result in self.sources.results[self._done :]:
            for number, origin in result.payload.figures.items():
                self._totals.setdefault(number, origin)
            for minutes, origin in result.payload.elapsed.items():
                self._elapsed.setdefault(minutes, origin)
        self._done = len(self.sources.results)

    def _pair_all(self) -> None:
        for result in self.sources.results[self._paired :]:
            for number, origin in result.payload.pairs.sums.items():
                self._pairs.setdefault(number, origin)
            for percent, origin in result.payload.pairs.shares.items():
                self._shares.setdefault(percent, origin)
            self._pair_names(result.payload.place, result.payload.numbers[:MAX_PAIRED])
        self._paired = len(self.sources.results)

    def _pair_names(self, place: int, numbers: Iterable[FieldValue]) -> None:
        """Sums and differences of two numbers of one name in two results."""
        for value in numbers:
            others = self._by_name.setdefault(value.name, [])
            for number, other_place in others:
                if other_place != place:
                    add_pair(self._pairs, number, major(value), Origin("sum", place, value.pointer))
            if len(others) < MAX_PAIRED:
                others.append((major(value), place))


def _signed_sums(numbers: Sequence[float]) -> set[float]:
    sums = {0.0}
    for number in numbers:
        sums |= {rounded(one + sign * number) for one in sums for sign in (1, -1)}
    return sums


def follows(value: float, run: Sequence[float], said: Sequence[float], counts: Iterable[float]) -> str | None:
    """Return the rule by which a number follows from numbers that were said: `run` in this reply, `said` before.

    A sum of neighbours in the reply; a sum or a difference of two; one of them, or such a difference, as often as a
    count says, or a part of it.
    """
    if _is_run_sum(value, run):
        return "sum"
    operands = {*said, *run[-MAX_OPERANDS:]} - {0.0}
    exact = frozenset(map(_hundredths, operands))
    said_exactly = _hundredths(value)
    # Whether there are two such numbers at all is seen at once; which ones comes after.
    if not (_has_difference(exact, said_exactly) or _has_sum(exact, said_exactly)):
        rule = None
    else:
        rule = _from_two(value, operands)
    if rule is None and any(_is_multiple(value, count, operands, exact) for count in counts if count > 1):
        return "product"
    return rule


def _from_two(value: float, operands: set[float]) -> str | None:
    for operand in operands:
        rest = rounded(value - operand)
        if rest in operands and rest != value:
            return "sum"
        if rounded(operand - value) in operands or rounded(operand + value) in operands:
            return "difference"
    return None


def _hundredths(value: float) -> int:
    return round(value * 100)


def _has_sum(exact: frozenset[int], value: int) -> bool:
    return not exact.isdisjoint(map(value.__sub__, exact))


def _has_difference(exact: frozenset[int], value: int) -> bool:
    return not exact.isdisjoint(map(value.__add__, exact))


def _is_multiple(value: float, count: float, operands: set[float], exact: frozenset[int]) -> bool:
    if rounded(value * count) in operands:
        return True
    part = rounded(value / count)
    if abs(part * count - value) > 0.005:
        return False
    return part in operands or _has_difference(exact, _hundredths(part))


def _is_run_sum(value: float, run: Sequence[float]) -> bool:
    """Whether the number is the sum of two or more numbers that follow one another in the reply."""
    if len(run) < 2:
        return False
    # Whether any two totals differ by the number is seen at once; where they stand comes after.
    totals = frozenset(accumulate(map(_hundredths, run[:MAX_RUN]), initial=0))
    if not _has_difference(totals, _hundredths(value)):
        return False
    seen: dict[float, int] = {0.0: 0}
    total = 0.0
    for place, number in enumerate(run[:MAX_RUN], 1):
        total = rounded(total + number)
        start = seen.get(rounded(total - value))
        if start is not None and place - start > 1:
            return True
        seen.setdefault(total, place)
    return False
