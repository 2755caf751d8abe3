"""Finds the calls that stand for expected ones which were not made: another tool's, where something speaks for it.

Where no other calls are allowed, each call that is left over stands for a missing one, the first for the first. Where
others are allowed, a call next to a missing one says nothing by itself: most are look-ups on the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from toolevals.grading.alignment.assignment import best_assignment
from toolevals.grading.alignment.trajectory import Alignment
from toolevals.grading.engine.offered_tools import Offer
from toolevals.grading.values import Call, CallExpectation, MalformedCall
from toolevals.grading.values.matchers import Exact, Fields, Items, Matcher, OneOf, ResultOf
from toolevals.grading.values.tool_effects import tool_effect
from toolevals.grading.values.verdicts import UNKNOWN_TOOL, UNPARSED

# What speaks for a call, the weightiest first. Any of them will do; together they choose among several calls.
_SAME_TOOL, _SHARED_VALUE, _BOTH_WRITE, _FAULT, _SAME_PLACE = 64, 8, 4, 2, 1
_MOST_SHARED = 4
# The calls over, in their order, that are looked at for each missing one.
_MOST_LOOKED_AT = 256


def stand_ins(alignment: Alignment, calls: Sequence[Call], offer: Offer) -> tuple[tuple[int, int], ...]:
    """Return the places of missing expected calls with those of the calls that stand for them; each serves once."""
    missing, over = alignment.unmatched_expected, alignment.unmatched_actual
    if not missing or not over:
        return ()
    if not alignment.compiled.trajectory.additional_calls:
        return tuple(zip(missing, over, strict=False))
    evidence = _Evidence(alignment, calls, offer)
    over = over[:_MOST_LOOKED_AT]
    assigned = best_assignment([[evidence.weight(expected, actual) for actual in over] for expected in missing])
    return tuple(
        (expected, over[place]) for expected, place in zip(missing, assigned, strict=True) if place is not None
    )


def has_stand_in(alignment: Alignment, calls: Sequence[Call], offer: Offer) -> bool:
    """Return whether a call stands for any of the missing ones."""
    missing, over = alignment.unmatched_expected, alignment.unmatched_actual
    if not alignment.compiled.trajectory.additional_calls:
        return bool(missing and over)
    evidence = _Evidence(alignment, calls, offer)
    return any(evidence.weight(expected, actual) for expected in missing for actual in over[:_MOST_LOOKED_AT])


class _Evidence:
    """The evidence for a call in the place of another."""

    def __init__(self, alignment: Alignment, calls: Sequence[Call], offer: Offer) -> None:
        self._alignment = alignment
        self._calls = calls
        self._offer = offer
        self._banned = {actual for actual, _ in alignment.violations}
        self._in_place = _only_ones(alignment, len(calls))
        self._wanted: dict[int, frozenset[Any]] = {}
        self._given: dict[int, frozenset[Any]] = {}

    def weight(self, expected: int, actual: int) -> int:
        """Return 0 where nothing speaks for it, and where one call only reads and the other changes something."""
        call = self._calls[actual]
        if isinstance(call, MalformedCall):
            return _FAULT + self._place(expected, actual)
        if actual in self._banned or self._offer.class_of(call) in (UNKNOWN_TOOL, UNPARSED):
            # It is wrong by itself: nothing allows it beside the others.
            return _FAULT + self._place(expected, actual)
        return max(self._likeness(option, expected, actual) for option in self._options(expected))

    def _options(self, expected: int) -> Sequence[CallExpectation]:
        return [option.expectation for option in self._alignment.compiled.options(expected)]

    def _likeness(self, option: CallExpectation, expected: int, actual: int) -> int:
        call = self._calls[actual]
        due, done = self._effect(option.tool), self._effect(call.name or "")
        if {due, done} == {"reads", "writes"}:
            return 0
        profile = self._offer.profile
        same = profile.tool_name(option.tool) == profile.tool_name(call.name or "")
        if actual not in self._given:
            self._given[actual] = frozenset(_leaves(getattr(call, "arguments", None)))
        if expected not in self._wanted:
            every = (matcher for each in self._options(expected) for matcher in each.arguments.values())
            self._wanted[expected] = frozenset(leaf for matcher in every for leaf in _values(matcher))
        shared = len(self._wanted[expected] & self._given[actual])
        return (
            _SAME_TOOL * same
            + _SHARED_VALUE * min(shared, _MOST_SHARED)
            + _BOTH_WRITE * (due == done == "writes")
            + self._place(expected, actual)
        )

    def _place(self, expected: int, actual: int) -> int:
        return _SAME_PLACE * (self._in_place.get(expected) == actual)

    def _effect(self, tool: str) -> str:
        return tool_effect(tool, self._offer.tools.get(self._offer.profile.tool_name(tool)))


def _only_ones(alignment: Alignment, made: int) -> dict[int, int]:
    """Return the missing calls with the one call over that stands where each should.

    It is the only one between the calls that its neighbours in the order are put to, where nothing else is missing
    there; of expected calls in any order, the only call where one is due.
    """
    ordered = len(alignment.compiled.calls) - len(alignment.compiled.unordered)
    if not ordered:
        return {0: 0} if made == alignment.total == 1 else {}
    fixed = [(-1, -1), *(pair for pair in sorted(alignment.pairs) if pair[0] < ordered), (ordered, made)]
    found = {}
    for (before, first), (after, last) in pairwise(fixed):
        over = [actual for actual in alignment.unmatched_actual if first < actual < last] if after - before == 2 else ()
        if len(over) == 1:
            found[before + 1] = over[0]
    return found


def _values(matcher: Matcher) -> Iterator[Any]:
    match matcher:
        case Exact():
            yield from _leaves(matcher.value)
        case OneOf() | ResultOf():
            yield from _leaves(list(matcher.values))
        case Fields():
            for part in matcher.fields.values():
                yield from _values(part)
        case Items():
            for part in matcher.items:
                yield from _values(part)


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the values in a value that may tell things apart: texts in lower case, numbers of two digits."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            waiting.extend(each.values())
        elif isinstance(each, list | tuple):
            waiting.extend(each)
        elif isinstance(each, str):
            if len(text := each.strip().casefold()) > 1:
                yield text
        elif isinstance(each, int | float) and not isinstance(each, bool) and abs(each) >= 10:
            yield each
