"""Read the cases of a grading that could not be graded: how many, an example, and which can be asked again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from toolevals.agents.connectors import CONNECTORS
from toolevals.grading.values.verdicts import FailureTag
from toolevals.runs.models import CaseGrade, Grading

# A grading of which more is errored says so first.
NOTABLE_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class Errored:
    """The errored cases of a grading.

    `askable` counts those that are worth another try. `reason` is that of the first, where they are `notable`.
    """

    count: int = 0
    total: int = 0
    askable: int = 0
    reason: str = ""

    @property
    def share(self) -> float:
        """Return which part of all cases they are."""
        return self.count / self.total if self.total else 0.0

    @property
    def notable(self) -> bool:
        """Return whether the grading is to say so first."""
        return self.share > NOTABLE_SHARE


def errored_in(grading: Grading, counts: Mapping[str, Mapping[str, int]]) -> Errored:
    """Return the errored cases of a grading, with its counts of verdicts by column."""
    outcomes, tags = counts.get("outcome", {}), counts.get("tag", {})
    askable = tags.get(FailureTag.HARNESS_ERROR, 0)
    if grading.run.agent.connector in CONNECTORS:
        askable += tags.get(FailureTag.ADAPTER_ERROR, 0)
    errored = Errored(outcomes.get("errored", 0), sum(outcomes.values()), askable)
    if not errored.notable:
        return errored
    first = CaseGrade.objects.filter(grading=grading, outcome="errored").order_by("pk").values_list("detail").first()
    reason = first[0]["verdicts"]["outcome"]["reason"] if first else ""
    return Errored(errored.count, errored.total, errored.askable, reason)
