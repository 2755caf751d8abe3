"""Aligns expected trajectories: which actual call serves which expected one, and what remains over on either side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter

from toolevals.grading.alignment.assignment import best_assignment
from toolevals.grading.alignment.ordered_assignment import best_sequence
from toolevals.grading.matching.compiled_calls import ALL_MATCH, ArgumentsCheck, CompiledCall, compile_call
from toolevals.grading.matching.equality import Profile
from toolevals.grading.values import AnyOrder, Call, ToolCall, Trajectory, options_of
from toolevals.grading.values.call_results import Results, bound, referred_to, ways
from toolevals.grading.values.value_classes import value_class

# The first aim outweighs any number of the second; among equals the pairs with fewer faults decide.
_FIRST = 1_000_000
_SECOND = 1_000
_MOST_FAULTS = 900


@value_class
class CompiledTrajectory:
    """A trajectory as tests. `positions` and `unordered` hold places in `calls`.

    Where any of several calls may fill a place, `choices` holds them all and `calls` one of them: in an alignment the
    one that was made, else the first. `referred` are the places of the calls to whose results others refer.
    """

    trajectory: Trajectory
    calls: tuple[CompiledCall, ...]
    positions: tuple[tuple[int, ...], ...]
    unordered: tuple[int, ...]
    disallowed: tuple[CompiledCall, ...]
    choices: Mapping[int, tuple[CompiledCall, ...]] = field(default_factory=dict)
    referred: tuple[int, ...] = ()

    def options(self, place: int) -> tuple[CompiledCall, ...]:
        """Return the calls that may fill a place."""
        return self.choices.get(place) or (self.calls[place],)


@dataclass(frozen=True)
class Alignment:
    """The relation of actual calls to a trajectory; calls are named by their places.

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
    # How many could be matched if expected calls were left out for it; None where it is as many as are.
    most_matched: int | None = None

    @cached_property
    def matched(self) -> int:
        """Return how many expected calls were made with the right arguments, or with ones that a judge has to see."""
        return sum(not check.faults for check in self.checks)

    @property
    def total(self) -> int:
        """Return how many calls are expected."""
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
        """Matched of expected calls in the assignment that matches most; with none expected, 1 if nothing is violated.

        That is `tools_percentage_pass`.
        """
        if self.total:
            return (self.matched if self.most_matched is None else self.most_matched) / self.total
        return 0.0 if self.violations or self.extra else 1.0

    @property
    def all_pass(self) -> bool:
        """Every expected call was made as expected, in order, and no other that must not be (`tools_all_pass`)."""
        return self.tools_are_right and self.matched == self.total

    @property
    def merit(self) -> tuple[bool, bool, float, int, int]:
        """Return what makes one alternative fit better than another, the weightiest first."""
        return (
            self.all_pass,
            self.tools_are_right,
            self.share,
            len(self.pairs),
            -len(self.unmatched_expected) - len(self.violations) - len(self.extra),
        )

    def due(self, place: int) -> str:
        """Return the tool that an expected call names; of a choice that no one met, all of them."""
        if place not in self.unmatched_expected:
            return self.compiled.calls[place].expectation.tool
        return " or ".join(dict.fromkeys(option.expectation.tool for option in self.compiled.options(place)))


def compile_trajectory(trajectory: Trajectory, profile: Profile) -> CompiledTrajectory:
    """Return the trajectory as tests under a profile."""
    positions: list[tuple[int, ...]] = []
    place = 0
    for step in trajectory.ordered:
        size = len(step.calls) if isinstance(step, AnyOrder) else 1
        positions.append(tuple(range(place, place + size)))
        place += size
    options = [tuple(compile_call(call, profile) for call in options_of(each)) for each in trajectory.expected]
    return CompiledTrajectory(
        trajectory=trajectory,
        calls=tuple(each[0] for each in options),
        positions=tuple(positions),
        unordered=tuple(range(place, place + len(trajectory.unordered))),
        disallowed=tuple(compile_call(call, profile) for call in trajectory.disallowed),
        choices={place: each for place, each in enumerate(options) if len(each) > 1},
        referred=tuple(sorted({*referred_to([each.expectation for option in options for each in option])})),
    )


def best_alignment(
    alternatives: Sequence[CompiledTrajectory], calls: Sequence[Call], profile: Profile, results: Results = ()
) -> Alignment:
    """Return the alignment with the alternative that fits best, the first of equals; there is at least one.

    `results` are those of the calls, by their places, for arguments that refer to them.
    """
    if len(alternatives) == 1:
        return align(alternatives[0], calls, profile, results)
    return max((align(each, calls, profile, results) for each in alternatives), key=attrgetter("merit"))


def align(compiled: CompiledTrajectory, calls: Sequence[Call], profile: Profile, results: Results = ()) -> Alignment:
    """Return the best alignment: as many full matches as can be, then as many calls of the same tool.

    Where another alignment calls every expected tool in order, and this one does not, that one is taken, so that a
    wrong argument is never shown as a missed call.

    References are open at first, and then read in the results of the calls that the referred ones are put to. Of the
    ways to put those, the first that meets all counts, else the best.
    """
    blind = _align(compiled, calls, profile)
    if not compiled.referred:
        return blind
    fitting = [
        pair for pair, (check, _) in _checks(compiled, calls, _names(calls, profile)).items() if not check.faults
    ]
    best = None
    for served in ways(compiled.referred, dict(blind.pairs), fitting):
        found = _align(_read(compiled, served, results, profile), calls, profile, served)
        if best is None or found.merit > best.merit:
            best = found
        if best.all_pass:
            break
    return best or blind


def _read(
    compiled: CompiledTrajectory, served: Mapping[int, int | None], results: Results, profile: Profile
) -> CompiledTrajectory:
    """Return the trajectory with its references read."""

    def read(call: CompiledCall) -> CompiledCall:
        known = bound(call.expectation, served, results)
        return call if known is call.expectation else compile_call(known, profile)

    return replace(
        compiled,
        calls=tuple(map(read, compiled.calls)),
        choices={place: tuple(map(read, options)) for place, options in compiled.choices.items()},
    )


def _align(
    compiled: CompiledTrajectory, calls: Sequence[Call], profile: Profile, fixed: Mapping[int, int | None] | None = None
) -> Alignment:
    """Return the best alignment that has the `fixed` pairs, with references as they are."""
    names = _names(calls, profile)
    if (
        len(calls) == len(compiled.calls) == 1
        and isinstance(calls[0], ToolCall)
        and names[0] == compiled.calls[0].name
        and not compiled.choices
    ):
        check = compiled.calls[0].check(calls[0].arguments)
        return Alignment(compiled, ((0, 0),), (check,), (), (), _violations(compiled, calls, names))
    checks = _checks(compiled, calls, names)
    if fixed is not None:
        taken = set(fixed.values())
        checks = {
            (expected, actual): check
            for (expected, actual), check in checks.items()
            if (fixed[expected] == actual if expected in fixed else actual not in taken)
        }
    best = _alignment(compiled, calls, names, checks, by_tool=False)
    if best.unmatched_expected and _covers(compiled, names):
        by_tool = _alignment(compiled, calls, names, checks, by_tool=True)
        if not by_tool.unmatched_expected:
            return replace(by_tool, most_matched=best.matched)
        return replace(best, out_of_order=True)
    return best


def _names(calls: Sequence[Call], profile: Profile) -> list[str | None]:
    return [profile.tool_name(call.name) if isinstance(call, ToolCall) else None for call in calls]


# What is expected and what is made, by their places: how the arguments stand, and for which option.
_Checks = dict[tuple[int, int], tuple[ArgumentsCheck, CompiledCall]]


def _checks(compiled: CompiledTrajectory, calls: Sequence[Call], names: Sequence[str | None]) -> _Checks:
    made: dict[str | None, list[tuple[int, ToolCall]]] = {}
    for actual, call in enumerate(calls):
        if isinstance(call, ToolCall):
            made.setdefault(names[actual], []).append((actual, call))
    checks: _Checks = {}
    for expected in range(len(compiled.calls)):
        first, *others = compiled.options(expected)
        for actual, call in made.get(first.name, ()):
            checks[expected, actual] = first.check(call.arguments), first
        for option in others:
            for actual, call in made.get(option.name, ()):
                check = option.check(call.arguments)
                known = checks.get((expected, actual))
                if known is None or _weight(known[0], by_tool=False) < _weight(check, by_tool=False):
                    checks[expected, actual] = check, option
    return checks


def _covers(compiled: CompiledTrajectory, names: Sequence[str | None]) -> bool:
    """Tell whether every expected tool can be put to a call, whatever the order."""
    if compiled.choices:
        wanted = [{option.name for option in compiled.options(place)} for place in range(len(compiled.calls))]
        return None not in best_assignment([[int(name in each) for name in names] for each in wanted])
    return not Counter(call.name for call in compiled.calls) - Counter(name for name in names if name is not None)


def _alignment(
    compiled: CompiledTrajectory, calls: Sequence[Call], names: Sequence[str | None], checks: _Checks, *, by_tool: bool
) -> Alignment:
    weights = [[0] * len(calls) for _ in compiled.calls]
    last, weight = None, 0
    for (expected, actual), (check, _) in checks.items():
        if check is not last:
            # Most checks in a row are one and the same.
            last, weight = check, _weight(check, by_tool=by_tool)
        weights[expected][actual] = weight
    assigned = best_sequence(weights, compiled.positions, compiled.unordered) if calls else [None] * len(weights)
    pairs = tuple((expected, actual) for expected, actual in enumerate(assigned) if actual is not None)
    used = {actual for _, actual in pairs}
    return Alignment(
        compiled=_chosen(compiled, pairs, checks),
        pairs=pairs,
        checks=tuple(checks[pair][0] for pair in pairs),
        unmatched_expected=tuple(expected for expected, actual in enumerate(assigned) if actual is None),
        unmatched_actual=tuple(actual for actual in range(len(calls)) if actual not in used),
        violations=_violations(compiled, calls, names),
    )


def _chosen(compiled: CompiledTrajectory, pairs: Iterable[tuple[int, int]], checks: _Checks) -> CompiledTrajectory:
    if not compiled.choices:
        return compiled
    chosen = dict(enumerate(compiled.calls)) | {pair[0]: checks[pair][1] for pair in pairs}
    return replace(compiled, calls=tuple(chosen.values()))


def _weight(check: ArgumentsCheck, *, by_tool: bool) -> int:
    if check is not ALL_MATCH and (faults := check.faults):
        return (_FIRST if by_tool else 0) + _SECOND - min(faults, _MOST_FAULTS)
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
