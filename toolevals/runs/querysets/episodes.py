"""Read what agents did when tools failed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from django.db import models
from django.db.models import Count, Q, Sum

if TYPE_CHECKING:
    from toolevals.runs.models import Episode, Grading  # noqa: F401

KIND: Final = ("tool", "error_class", "reaction", "score")
# What an address calls some episodes -> which they are.
EPISODES_WENT: Final[Mapping[str, Q]] = {
    "right": Q(score=1),
    "wrong": Q(score__lt=1),
    "unscored": Q(score=None),
    "recovered": Q(recovered=True),
    "errors": Q(errors__gt=0),
    "again": Q(identical_retries__gt=0, errors__gt=0),
}


class EpisodeQuerySet(models.QuerySet["Episode"]):
    """Reads of the episodes of a grading."""

    def kinds(self) -> Iterable[tuple[Any, ...]]:
        """Return each kind (KIND) with: episodes, recoveries, bad answers, errors, identical retries after errors."""
        return (
            self.order_by(*KIND)
            .values_list(*KIND)
            .annotate(
                episodes=Count("pk"),
                recoveries=Count("pk", filter=Q(recovered=True)),
                bad=Sum("failures"),
                wrong=Sum("errors"),
                again=Sum("identical_retries", filter=Q(errors__gt=0), default=0),
            )
        )

    def going(self, how: str) -> EpisodeQuerySet:
        """Return the episodes that went "right", "wrong", ... (EPISODES_WENT), or all where it is none of these."""
        return self.filter(EPISODES_WENT[how]) if how in EPISODES_WENT else self

    def cases_with_errors(self) -> int:
        """Return the number of cases in which a tool answered with an error."""
        return self.filter(errors__gt=0).order_by().values("case").distinct().count()
