"""Expected trajectories: which actual call serves which expected one, and what remains over on either side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from toolevals.grading.equality import Profile
from toolevals.grading.matching import ArgumentsCheck, CompiledCall, compile_call
from toolevals.grading.sequence import best_sequence
from toolevals.grading.values import AnyOrder, Call, ToolCall, Trajectory

# The first aim outweighs any number of the second; among equals the pairs with fewer faults decide.
_FIRST = 1_000_000
_SECOND = 1_000
_MOST_FAULTS = 900


@dataclass(frozen=True, slots=True)
class CompiledTrajectory:
    """A trajectory as tests. `positions` and `unordered` hold places in `calls`."""

    trajectory: Trajectory
    calls: tuple[CompiledCall, ...]
    positions: tuple[tuple[int, ...], ...]
    unordered: tuple[int, ...]
    disallowed: tuple[CompiledCall, ...]


@dataclass(frozen=True)
class Alignment:
    """How actual calls stand to a trajectory; calls are named by their places.

    `pairs` are (expected, actual) with the same tool, `checks` their arguments in the same order. `violations` are
    (actual, disallowed).
    """

    compiled: CompiledTrajectory
    pairs: tuple[tuple[int, int], ...]
    checks: tuple[ArgumentsCheck, ...]
    unmatched_expected: tuple[int, ...]
    unmatched_actual: tuple[int, ...]
    violations: tuple[tuple[int, int], ...]
    out_of_order: bool = False

    @cached_property
    def matched(self) -> int:
        """How many expected calls were made with the right arguments, or with ones that a judge has to see."""
        return sum(not check.faults for check in self.checks)

    @property
    def total(self) -> int:
        """How many calls are expected."""
        return len(self.compiled.calls)

    @property
    def extra(self) -> tuple[int, ...]:
        """The actual calls that are one too many."""
        return () if self.compiled.trajectory.additional_calls else self.unmatched_actual

    @property
    def tools_are_right(self) -> bool:
        """Every expected tool was called, in order, none that is disallowed, and none too many."""
        return not (self.unmatched_expected or self.violations or self.extra)

    @property
    def share(self) -> float:
        """Matched of expected calls (`tools_percentage_pass`); with none expected, 1 where nothing was violated."""
        if self.total:
            return self.matched / self.total
        return 0.0 if self.violations else 1.0


def compile_trajectory(trajectory: Trajectory, profile: Profile) -> CompiledTrajectory:
    """Return the trajectory as tests under a profile."""
    positions: list[tuple[int, ...]] = []
    place = 0
    for step in trajectory.ordered:
        size = len(step.calls) if isinstance(step, AnyOrder) else 1
        positions.append(tuple(range(place, place + size)))
        place += size
    return CompiledTrajectory(
        trajectory=trajectory,
        calls=tuple(compile_call(call, profile) for call in trajectory.calls),
        positions=tuple(positions),
        unordered=tuple(range(place, place + len(trajectory.unordered))),
        disallowed=tuple(compile_call(call, profile) for call in trajectory.disallowed),
    )


def align(compiled: CompiledTrajectory, calls: Sequence[Call], profile: Profile) -> Alignment:
    """Return the best alignment: as many full matches as can be, then as many calls of the same tool.

    Where another alignment calls every expected tool in order, and this one does not, that one is taken, so that a
    wrong argument is never shown as a missed call.
    """
    names = [profile.tool_name(call.name) if isinstance(call, ToolCall) else None for call in calls]
    if len(calls) == len(compiled.calls) == 1 and isinstance(calls[0], ToolCall) and names[0] == compiled.calls[0].name:
        check = compiled.calls[0].check(calls[0].arguments)
        return Alignment(compiled, ((0, 0),), (check,), (), (), _violations(compiled, calls, names))
    checks = _checks(compiled, calls, names)
    best = _alignment(compiled, calls, names, checks, by_tool=False)
    if best.unmatched_expected and _covers(compiled, names):
        by_tool = _alignment(compiled, calls, names, checks, by_tool=True)
        if not by_tool.unmatched_expected:
            return by_tool
        return replace(best, out_of_order=True)
    return best


# What is expected and what is made, by their places.
_Checks = dict[tuple[int, int], ArgumentsCheck]


def _checks(compiled: CompiledTrajectory, calls: Sequence[Call], names: Sequence[str | None]) -> _Checks:
    return {
        (expected, actual): wanted.check(call.arguments)
        for expected, wanted in enumerate(compiled.calls)
        for actual, call in enumerate(calls)
        if names[actual] == wanted.name and isinstance(call, ToolCall)
    }


def _covers(compiled: CompiledTrajectory, names: Sequence[str | None]) -> bool:
    return not Counter(call.name for call in compiled.calls) - Counter(name for name in names if name is not None)


def _alignment(
    compiled: CompiledTrajectory, calls: Sequence[Call], names: Sequence[str | None], checks: _Checks, *, by_tool: bool
) -> Alignment:
    weights = [
        [_weight(checks.get((expected, actual)), by_tool) for actual in range(len(calls))]
        for expected in range(len(compiled.calls))
    ]
    assigned = best_sequence(weights, compiled.positions, compiled.unordered) if calls else [None] * len(weights)
    pairs = tuple((expected, actual) for expected, actual in enumerate(assigned) if actual is not None)
    used = {actual for _, actual in pairs}
    return Alignment(
        compiled=compiled,
        pairs=pairs,
        checks=tuple(checks[pair] for pair in pairs),
        unmatched_expected=tuple(expected for expected, actual in enumerate(assigned) if actual is None),
        unmatched_actual=tuple(actual for actual in range(len(calls)) if actual not in used),
        violations=_violations(compiled, calls, names),
    )


def _weight(check: ArgumentsCheck | None, by_tool: bool) -> int:
    if check is None:
        return 0
    if check.faults:
        return (_FIRST if by_tool else 0) + _SECOND - min(check.faults, _MOST_FAULTS)
    return _FIRST + _SECOND - min(len(check.unjudged), 1)


def _violations(
    compiled: CompiledTrajectory, calls: Sequence[Call], names: Sequence[str | None]
) -> tuple[tuple[int, int], ...]:
    return tuple(
        (actual, place)
        for actual, call in enumerate(calls)
        for place, banned in enumerate(compiled.disallowed)
        if isinstance(call, ToolCall) and names[actual] == banned.name and banned.check(call.arguments).proved
    )
