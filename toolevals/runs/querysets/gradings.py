"""Read grades."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.db import models

# A latent bug: the answer is right though the tools were wrong.
IS_LATENT: Final = {"answer": "passed", "selection": "failed"}


def warned(layer: str) -> dict[str, str]:
    """Return what cases have of which the outcome passed and a layer next to it failed."""
    return {"outcome": "passed", layer: "failed"}


if TYPE_CHECKING:
    from toolevals.runs.models import CaseGrade, Grading  # noqa: F401


class CaseGradeQuerySet(models.QuerySet["CaseGrade"]):
    """Reads of the cases of a grading."""

    def matching(self, *, expected: str = "", actual: str = "", mode: str = "", outcome: str = "") -> CaseGradeQuerySet:
        """Return the cases with these values; an empty one is no condition."""
        wanted = {"expected": expected, "actual": actual, "mode": mode, "outcome": outcome}
        return self.filter(**{column: value for column, value in wanted.items() if value})

    def with_example(self) -> CaseGradeQuerySet:
        """Load the example with each case, without what is long: input, transcript, verdicts in full."""
        return self.select_related("transcript__entry__revision__example").defer(
            "detail", "transcript__document", "transcript__entry__revision__input"
        )
