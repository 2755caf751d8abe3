"""Tell what a guard refused in a run: in front of its agent, or by the policy that it was graded with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reports.run.findings import Family
from toolevals.registry.policies.models import PolicyVersion
from toolevals.registry.policies.offered import policies_offered
from toolevals.runs.live.settings import GuardSettings
from toolevals.runs.models import Grading, Run


@dataclass(frozen=True, slots=True)
class GuardShown:
    """The refusals by rule, and the policies: in front of the agent, of the grading, and those to grade with."""

    family: Family
    in_front: str
    policy: str
    offered: Sequence[PolicyVersion]


def guard_shown(run: Run, grading: Grading, family: Family, *, offers: bool) -> GuardShown | None:
    """Return what a guard refused; None where none was asked and the project has no policy to grade with."""
    said = run.settings.get("guard")
    in_front = GuardSettings.from_document(said) if said else None
    words = f"{in_front.policy}@{in_front.version}" if in_front else ""
    policy = str(grading.policy) if grading.policy else ""
    offered = policies_offered(run.project) if offers else []
    if not (words or policy or offered or family.cases):
        return None
    return GuardShown(family, words, policy, offered)
