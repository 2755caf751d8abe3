"""Reproduces `tool_trajectory_avg_score` of `google-adk` 2.13.0 (Apache-2.0), faults included.

Arguments compare by Python's `==`, all or nothing: 1 is 1.0 and True, and no arguments are not empty ones. Where
nothing is expected, IN_ORDER and ANY_ORDER pass whatever was called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

from toolevals.grading.dialects.plain_calls import PlainCall, ValidationError
from toolevals.json_types import JsonObject

MatchType = Literal["EXACT", "IN_ORDER", "ANY_ORDER"]

_Call: TypeAlias = "tuple[str | None, JsonObject | None]"


def tool_trajectory(
    expected: Sequence[PlainCall],
    actual: Sequence[PlainCall],
    *,
    match_type: MatchType = "EXACT",
    ignore_args: bool = False,
) -> float:
    """Return 1.0 or 0.0 for one invocation. Raises ValidationError on a call of another form."""
    wanted, made = _calls(expected, ignore_args), _calls(actual, ignore_args)
    return float(_MATCHES[match_type](wanted, made))


def tool_trajectory_avg_score(
    invocations: Iterable[tuple[Sequence[PlainCall], Sequence[PlainCall]]],
    *,
    threshold: float = 1.0,
    match_type: MatchType = "EXACT",
    ignore_args: bool = False,
) -> tuple[float | None, bool | None]:
    """Return the mean over (expected, actual) invocations, and whether it reaches the threshold; None for none.

    Raises ValidationError as `tool_trajectory`.
    """
    scores = [
        tool_trajectory(expected, actual, match_type=match_type, ignore_args=ignore_args)
        for expected, actual in invocations
    ]
    if not scores:
        return None, None
    mean = sum(scores) / len(scores)
    return mean, mean >= threshold


def _calls(calls: Iterable[object], ignore_args: bool) -> list[_Call]:
    return [_call(call, ignore_args) for call in calls]


def _call(call: object, ignore_args: bool) -> _Call:
    if not isinstance(call, Mapping):
        raise ValidationError("a call is not an object")
    name, arguments = call.get("name"), call.get("arguments")
    if not isinstance(name, str | None) or not isinstance(arguments, dict | None):
        raise ValidationError("a call's name is not text or its arguments are not an object")
    return name, None if ignore_args else arguments


def _exact(expected: list[_Call], actual: list[_Call]) -> bool:
    return expected == actual


def _in_order(expected: list[_Call], actual: list[_Call]) -> bool:
    left = iter(actual)
    return all(call in left for call in expected)


def _any_order(expected: list[_Call], actual: list[_Call]) -> bool:
    left = list(actual)
    for call in expected:
        if call not in left:
            return False
        left.remove(call)
    return True


_MATCHES: Mapping[MatchType, Callable[[list[_Call], list[_Call]], bool]] = {
    "EXACT": _exact,
    "IN_ORDER": _in_order,
    "ANY_ORDER": _any_order,
}
