"""Compiles an expectation with the offered tools, once, for any number of transcripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, repeat
from typing import Any

from toolevals.grading.alignment.trajectory import CompiledTrajectory, compile_trajectory
from toolevals.grading.engine.decisions import Decision
from toolevals.grading.engine.known_calls import LONGEST_KNOWN, MOST_KNOWN
from toolevals.grading.engine.offered_tools import Offer
from toolevals.grading.engine.positional_match import InPlace
from toolevals.grading.matching.compiled_calls import SURE
from toolevals.grading.matching.equality import PROFILES, Judge, Profile
from toolevals.grading.values import AnyOrder, CallExpectation, Expectation, ToolSpec, options_of
from toolevals.grading.values.decided_by import EXPECTED


# Not frozen, because to make one takes three times as long then: no one changes one.
@dataclass(slots=True)
class CompiledCase:
    """An expectation as tests. `failure` says why it could not be compiled: every grade is then errored.

    `expects_layers` says that it expects more than calls; `decided_by` what its outcome is made of, and `refers`
    that an expected call refers to the result of another. `trajectories` are made when they are first wanted, unless
    making them may fail: calls that stand in place are graded without them.
    """

    expectation: Expectation
    profile: Profile
    offer: Offer
    failure: str = ""
    in_place: InPlace | None = field(default=None, compare=False)
    expects_layers: bool = False
    decided_by: str = EXPECTED
    refers: bool = False
    # What was decided of calls that came before, by their text. Most come once or are all alike: they need no dict.
    _first: tuple[bytes, Decision] | None = field(default=None, init=False, repr=False, compare=False)
    _others: dict[bytes, Decision] | None = field(default=None, init=False, repr=False, compare=False)
    trajectories: tuple[CompiledTrajectory, ...] = field(init=False, repr=False, compare=False)

    def __getattr__(self, name: str) -> Any:
        # Python asks here only where a slot is empty.
        if name != "trajectories":
            raise AttributeError(name)
        expected = () if self.failure else self.expectation.alternatives
        in_place = () if self.in_place is None else [place.call for place in self.in_place.places]
        made = tuple(map(compile_trajectory, expected, repeat(self.profile), chain((in_place,), repeat(()))))
        self.trajectories = made
        return made

    def known_decision(self, text: bytes) -> Decision | None:
        """Return what was decided of calls with this text (`known_calls.calls_as_text`); None where none came."""
        first = self._first
        if first is None or first[0] == text:
            return first and first[1]
        return None if self._others is None else self._others.get(text)

    def note_decision(self, text: bytes, decision: Decision) -> None:
        """Keep what was decided of calls, unless their text is long or many others are kept."""
        if len(text) > LONGEST_KNOWN:
            return
        if self._first is None:
            self._first = text, decision
        elif self._others is None:
            self._others = {text: decision}
        elif len(self._others) < MOST_KNOWN - 1:
            self._others[text] = decision


def compile_case(
    expectation: Expectation, tools: Sequence[ToolSpec], judge: Judge | None = None, *, decided_by: str = EXPECTED
) -> CompiledCase:
    """Compile an expectation and the tools offered with it; without any, names are not known and schemas not checked.

    `judge` answers criteria in words; without one they are left open. `decided_by` is in the normal form of
    `deciding.read_decided_by`. Never raises: what cannot be compiled is graded as HARNESS_ERROR.
    """
    profile = PROFILES[expectation.profile]
    if judge is not None:
        profile = replace(profile, judge=judge)
    expects_layers = bool(expectation.reactions) or expectation.answer is not None or expectation.state is not None
    offer = Offer(profile, tuple(tools), expectation)
    try:
        made = CompiledCase(expectation, profile, offer, "", None, expects_layers, decided_by)
        in_place = InPlace.of(expectation, offer)
        if not (_is_sure(expectation) if in_place is None or not in_place.only else in_place.is_sure):
            # What cannot be compiled is told now.
            made.refers = any(each.referred for each in made.trajectories)
        if not made.refers:
            made.in_place = in_place
    except Exception as error:  # noqa: BLE001 (the boundary that turns crashes into verdicts)
        return CompiledCase(expectation, profile, offer, f"{type(error).__name__}: {error}", decided_by=decided_by)
    return made


def _is_sure(expectation: Expectation) -> bool:
    """Tell whether all matchers are of kinds that can always be compiled."""
    for trajectory in expectation.alternatives:
        for step in (*trajectory.ordered, *trajectory.unordered, *trajectory.disallowed):
            if type(step) is CallExpectation:
                if not SURE.issuperset(map(type, step.arguments.values())):
                    return False
                continue
            members = step.calls if isinstance(step, AnyOrder) else (step,)
            calls = [call for each in members for call in options_of(each)]
            if not all(SURE.issuperset(map(type, call.arguments.values())) for call in calls):
                return False
    return True
