"""Read counted trials and steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from django.db import models
from django.db.models import Count, Q

if TYPE_CHECKING:
    from toolevals.runs.models import Grading, StepCount, TrialCount  # noqa: F401

# How the scored trials of an example can come out: what an address calls it -> which examples.
TRIALS_CAME_OUT: Final[Mapping[str, Q]] = {
    "always": Q(passed__gt=0, failed=0),
    "sometimes": Q(passed__gt=0, failed__gt=0),
    "never": Q(passed=0, failed__gt=0),
    "unscored": Q(passed=0, failed=0),
}


class TrialCountQuerySet(models.QuerySet["TrialCount"]):
    """Reads of the counted trials of a grading."""

    def coming_out(self, how: str) -> TrialCountQuerySet:
        """Return the examples whose scored trials passed "always", "sometimes" or "never", or all where it is empty."""
        return self.filter(TRIALS_CAME_OUT[how]) if how in TRIALS_CAME_OUT else self

    def counted(self, *columns: str) -> Counter[tuple[Any, ...]]:
        """Return how many examples have which values of the columns."""
        rows: Any = self.order_by().values_list(*columns).annotate(examples=Count("pk"))
        return Counter({row[:-1]: row[-1] for row in rows})


class StepCountQuerySet(models.QuerySet["StepCount"]):
    """Reads of the counted steps of a grading."""

    def of_grading(self, grading: Grading) -> StepCountQuerySet:
        """Return the grading's counts, the shortest chains first."""
        return self.filter(grading=grading).order_by("expected", "right", "made", "outcome")
