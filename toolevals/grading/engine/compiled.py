"""Compiles an expectation with the offered tools, once, for any number of transcripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from toolevals.grading.alignment.trajectory import CompiledTrajectory, compile_trajectory
from toolevals.grading.engine.offered_tools import Offer
from toolevals.grading.matching.equality import PROFILES, Judge, Profile
from toolevals.grading.values import Expectation, ToolSpec
from toolevals.grading.values.decided_by import EXPECTED


@dataclass
class CompiledCase:
    """An expectation as tests. `failure` says why it could not be compiled: every grade is then errored.

    `expects_layers` says that it expects more than calls; `decided_by` what its outcome is made of.
    """

    expectation: Expectation
    profile: Profile
    offer: Offer
    failure: str = ""
    expects_layers: bool = False
    decided_by: str = EXPECTED

    @cached_property
    def trajectories(self) -> tuple[CompiledTrajectory, ...]:
        """The alternatives as tests; none where they could not be compiled."""
        expected = () if self.failure else self.expectation.alternatives
        return tuple(compile_trajectory(each, self.profile) for each in expected)

    @property
    def refers(self) -> bool:
        """Tell whether an expected call refers to the result of another."""
        return any(each.referred for each in self.trajectories)


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
    made = CompiledCase(expectation, profile, offer, "", expects_layers, decided_by)
    try:
        # What cannot be compiled is told now.
        _ = made.trajectories
    except Exception as error:  # noqa: BLE001 (the boundary that turns crashes into verdicts)
        return CompiledCase(expectation, profile, offer, f"{type(error).__name__}: {error}", decided_by=decided_by)
    return made
