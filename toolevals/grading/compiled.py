"""An expectation compiled with the offered tools, once, for any number of transcripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from toolevals.grading.deciding import EXPECTED
from toolevals.grading.equality import PROFILES, Judge, Profile
from toolevals.grading.in_place import InPlace
from toolevals.grading.offer import Offer
from toolevals.grading.trajectory import CompiledTrajectory, compile_trajectory
from toolevals.grading.values import Expectation, ToolSpec


@dataclass(frozen=True, slots=True)
class CompiledCase:
    """An expectation as tests. `failure` says why it could not be compiled: every grade is then errored.

    `asks_beside` says that it expects something of a transcript beside its calls; `decided_by` what its outcome is made
    of.
    """

    expectation: Expectation
    profile: Profile
    offer: Offer
    trajectories: tuple[CompiledTrajectory, ...] = ()
    failure: str = ""
    in_place: InPlace | None = field(default=None, compare=False)
    asks_beside: bool = False
    decided_by: str = EXPECTED

    @property
    def refers(self) -> bool:
        """Whether an expected call refers to the result of another."""
        return any(each.referred for each in self.trajectories)


def compile_case(
    expectation: Expectation, tools: Sequence[ToolSpec], judge: Judge | None = None, *, decided_by: str = EXPECTED
) -> CompiledCase:
    """Compile an expectation and the tools offered with it; without any, names are not known and schemas not checked.

    `judge` answers criteria in words; without one they are left open. `decided_by` is in the normal form of
    `deciding.read_decided_by`. Never raises: what cannot be compiled is graded
    as HARNESS_ERROR.
    """
    profile = PROFILES[expectation.profile]
    if judge is not None:
        profile = replace(profile, judge=judge)
    expected = [call.tool for trajectory in expectation.alternatives for call in trajectory.calls]
    offer = Offer.of(tools, expected, profile)
    try:
        trajectories = tuple(compile_trajectory(each, profile) for each in expectation.alternatives)
        in_place = InPlace.of(trajectories, offer)
    except Exception as error:  # noqa: BLE001 (the boundary that turns crashes into verdicts)
        failure = f"{type(error).__name__}: {error}"
        return CompiledCase(expectation, profile, offer, failure=failure, decided_by=decided_by)
    asks_beside = bool(expectation.reactions) or expectation.answer is not None or expectation.state is not None
    return CompiledCase(
        expectation,
        profile,
        offer,
        trajectories,
        in_place=in_place,
        asks_beside=asks_beside,
        decided_by=decided_by,
    )
