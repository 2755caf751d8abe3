"""Store what agents did when a tool failed: one row an episode, so that a page counts them and opens their cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final

from django.db import models
from django.db.models import Count, Q, Sum

from toolevals.runs.models.gradings import CaseGrade, Grading

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


class Episode(models.Model):
    """One failure of a tool within a case, or an empty or partial answer, and what followed.

    The fields are those of `toolevals.grading.layers.recovery.EpisodeGrade`; the case's document has the rest.
    """

    # That of the case, of which the database asks.
    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="episodes", db_constraint=False)
    case = models.ForeignKey(CaseGrade, on_delete=models.CASCADE, related_name="episodes")
    # Its place among the case's episodes, from 0.
    number = models.PositiveSmallIntegerField()
    # The class that the call would fall into if its tool were offered.
    tool = models.CharField(max_length=200)
    error_class = models.CharField(max_length=10)
    reaction = models.CharField(max_length=20)
    # 1, 0.5 or 0; NULL where no rule can tell.
    score = models.FloatField(null=True)
    recovered = models.BooleanField()
    # Bad answers, and those of them that are errors: not empty or partial.
    failures = models.PositiveSmallIntegerField()
    errors = models.PositiveSmallIntegerField()
    identical_retries = models.PositiveSmallIntegerField()

    objects = EpisodeQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["case", "number"], name="episode_number"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["grading", "tool", "error_class", "reaction", "id"], name="episode_kind"),
        ]


class ToolAnswers(models.Model):
    """The number of a tool's answers in one batch of transcripts: its errors are a share of them. All tools are ""."""

    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="tool_answers")
    # The batch's first position.
    start = models.PositiveIntegerField()
    tool = models.CharField(max_length=200)
    answers = models.PositiveIntegerField()
    # Sums over the examples of the batch, with n answers and s errors of an example: how many examples have an answer,
    # Σs, Σs², Σs·n and Σn². Null in gradings from before they were kept.
    examples = models.PositiveIntegerField(null=True)
    errors = models.PositiveIntegerField(null=True)
    errors_squared = models.PositiveBigIntegerField(null=True)
    crossed = models.PositiveBigIntegerField(null=True)
    answers_squared = models.PositiveBigIntegerField(null=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["grading", "start", "tool"], name="tool_answers_of_a_batch"),
        ]
