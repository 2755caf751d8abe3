"""Grades the selection layer: the right tool, or rightly no tool. Gives a failure mode ("" for none) with words.

Finds the calls that stand for expected ones which were not made: another tool's, where something speaks for it.

Where no other calls are allowed, each call that is left over stands for a missing one, the first for the first. Where
others are allowed, a call next to a missing one says nothing by itself: most are look-ups on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from toolevals.grading.alignment.assignment import best_assignment
from toolevals.grading.alignment.trajectory import Alignment
from toolevals.grading.engine.compiled import Offer
from toolevals.grading.values import Call, CallExpectation, MalformedCall
from toolevals.grading.values.matchers import Exact, Fields, Items, Matcher, OneOf, ResultOf
from toolevals.grading.values.tools import tool_effect
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


def _leaves(value: object) -> Iterator[Any]:
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


# A failure mode, and the reason for the person who asks.
Judged = tuple[str, Callable[[], str]]

_LONGEST_NAME = 80


def no_call_selection(calls: Sequence[Call]) -> Judged:
    """Passes when nothing was called."""
    if not calls:
        return "", lambda: "No call was expected, and none was made."
    if all(isinstance(call, MalformedCall) for call in calls):
        return "malformed_output", lambda: f"No call was expected; one was tried that cannot be read: {_reason(calls)}."
    return "needless_call", lambda: f"No call was expected; {_made(calls)} was called."


def some_call_selection(calls: Sequence[Call], offer: Offer) -> Judged:
    """Passes when an offered tool was called, whichever it is."""
    classes = [offer.class_of(call) for call in calls]
    right = [call for call, name in zip(calls, classes, strict=True) if name not in {UNKNOWN_TOOL, UNPARSED}]
    if right:
        return "", lambda: f"Some call was expected; {_made(right)} was called."
    if not calls:
        return "missed_call", lambda: "Some call was expected, and none was made."
    if UNPARSED in classes:
        return "malformed_output", lambda: f"A call cannot be read: {_reason(calls)}."
    return "hallucinated_tool", lambda: f"{_made(calls)} was called, which is not among the offered tools."


def calls_selection(alignment: Alignment, calls: Sequence[Call], offer: Offer) -> Judged:
    """Passes when every expected tool was called, in order, with none that is disallowed and none too many."""
    if alignment.tools_are_right:
        return "", lambda: _right(alignment)
    if alignment.violations:
        banned = [calls[place] for place, _ in alignment.violations]
        return "disallowed_call", lambda: f"{_made(banned)} was called, which must not be."
    if not alignment.unmatched_expected:
        return _one_too_many([calls[place] for place in alignment.extra], offer)
    return _missed(alignment, calls, offer)


def _missed(alignment: Alignment, calls: Sequence[Call], offer: Offer) -> Judged:
    over = [calls[place] for place in alignment.unmatched_actual]
    if not calls:
        return "missed_call", lambda: f"{_missing(alignment)} was expected, and no call was made."
    if any(isinstance(call, MalformedCall) for call in over):
        return (
            "malformed_output",
            lambda: f"{_missing(alignment)} was expected; a call cannot be read: {_reason(over)}.",
        )
    if alignment.out_of_order:
        return (
            "wrong_order",
            lambda: f"Every expected tool was called, but {_missing(alignment)} not in its place in the order.",
        )
    if not over:
        return "missed_call", lambda: f"{_missing(alignment)} was expected too, and not called."
    if not has_stand_in(alignment, calls, offer):
        return "missed_call", lambda: f"{_missing(alignment)} was expected, and not called."
    if any(offer.class_of(call) == UNKNOWN_TOOL for call in over):
        return (
            "hallucinated_tool",
            lambda: f"{_missing(alignment)} was expected; {_made(over)} was called, which is not offered.",
        )
    return "wrong_tool", lambda: f"{_missing(alignment)} was expected; {_standing(alignment, calls, offer)} was called."


def _standing(alignment: Alignment, calls: Sequence[Call], offer: Offer) -> str:
    return _made([calls[actual] for _, actual in stand_ins(alignment, calls, offer)])


def _one_too_many(extra: Sequence[Call], offer: Offer) -> Judged:
    if any(isinstance(call, MalformedCall) for call in extra):
        return "malformed_output", lambda: f"One call too many, and it cannot be read: {_reason(extra)}."
    if any(offer.class_of(call) == UNKNOWN_TOOL for call in extra):
        return "hallucinated_tool", lambda: f"{_made(extra)} was called besides, which is not offered."
    return "extra_call", lambda: f"{_made(extra)} was called besides; no further call is allowed."


def _right(alignment: Alignment) -> str:
    if not alignment.total:
        return "Nothing was called that must not be."
    if alignment.total == 1:
        return called_as_due(alignment.compiled.calls[0].expectation.tool)
    return f"All {alignment.total} expected tools were called."


def called_as_due(tool: str) -> str:
    """Return the reason where the one expected tool was called, and nothing that must not be."""
    return f"{cut(tool)} was expected and was called."


def _missing(alignment: Alignment) -> str:
    return _listed(alignment.due(place) for place in alignment.unmatched_expected)


def _made(calls: Sequence[Call]) -> str:
    return _listed(call.name or "an unreadable call" for call in calls)


def _listed(names: Iterable[str]) -> str:
    each = list(dict.fromkeys(cut(name) for name in names))
    if not each:
        return ""
    if len(each) > 3:
        return f"{', '.join(each[:2])} and {len(each) - 2} more"
    return " and ".join(filter(None, (", ".join(each[:-1]), each[-1])))


def cut(name: str) -> str:
    """Return a name of bounded length."""
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"


def _reason(calls: Sequence[Call]) -> str:
    return next(call.reason for call in calls if isinstance(call, MalformedCall)).rstrip(".")
