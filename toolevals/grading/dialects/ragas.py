"""Reproduces ToolCallAccuracy and ToolCallF1 of `ragas` 0.4.3 (Apache-2.0), faults included.

Accuracy compares values as text, gives nothing at all where the counts differ, and sorts both sides where the order is
free, which can pair partly right calls wrongly. F1 compares sets, so that repeated calls are one and two empty sides
score 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from toolevals.grading.dialects.plain_calls import PlainCall, hashable, named_calls
from toolevals.json_types import JsonObject


def tool_call_accuracy(
    expected: Sequence[PlainCall], actual: Sequence[PlainCall], *, strict_order: bool = True
) -> float:
    """Return the share of expected arguments whose text is the same, 0 where the names are not aligned.

    Raises ValidationError on a call without a name or an object of arguments.
    """
    wanted, made = named_calls(expected), named_calls(actual)
    if not wanted or not made:
        return 0.0 if wanted or made else 1.0
    if not strict_order:
        wanted.sort(key=_sort_key)
        made.sort(key=_sort_key)
    # Sorted calls have sorted names: one comparison serves both orders. It also settles different counts.
    if [name for name, _ in wanted] != [name for name, _ in made]:
        return 0.0
    total = 0.0
    # Not sum(): newer Pythons compensate its rounding, and the original adds one by one.
    for (_, theirs), (_, ours) in zip(wanted, made, strict=True):
        total += _same_as_text(ours, theirs)
    return total / len(wanted)


def tool_call_f1(expected: Sequence[PlainCall], actual: Sequence[PlainCall]) -> float:
    """Return F1 between the sets of calls, rounded to four places. Raises ValidationError as `tool_call_accuracy`."""
    wanted = {(name, hashable(arguments)) for name, arguments in named_calls(expected)}
    made = {(name, hashable(arguments)) for name, arguments in named_calls(actual)}
    if not (right := len(wanted & made)):
        return 0.0
    precision, recall = right / len(made), right / len(wanted)
    return round(2 * precision * recall / (precision + recall), 4)


def _sort_key(call: tuple[str, JsonObject]) -> tuple[str, ...]:
    name, arguments = call
    return (name, *(text for key in sorted(arguments) for text in (key, str(arguments[key]))))


def _same_as_text(actual: JsonObject, expected: JsonObject) -> float:
    if not expected:
        return 0.0 if actual else 1.0
    same = sum(key in actual and str(actual[key]) == str(value) for key, value in expected.items())
    return same / len(expected)
