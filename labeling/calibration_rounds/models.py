"""Store calibration rounds: solved examples that everyone who labels answers once, blind, to compare readings."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.db.models import Count, Exists, IntegerField, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from labeling.blindness import calibration_waits, comparable_calibration, is_resolved
from labeling.datasets.models import Dataset
from labeling.examples.models import Revision
from labeling.label.models import LabelAnswer
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Project, User, within


class CalibrationRoundQuerySet(models.QuerySet["CalibrationRound"]):
    """Reads of rounds."""

    def in_project(self, project: Project) -> CalibrationRoundQuerySet:
        """Return the rounds of the project's datasets."""
        return self.filter(within(project, "dataset"))

    def in_scope(self, scope: Dataset | Project) -> CalibrationRoundQuerySet:
        """Return the rounds of a dataset, or of all of a project's."""
        return self.filter(dataset=scope) if isinstance(scope, Dataset) else self.in_project(scope)

    def open(self) -> CalibrationRoundQuerySet:
        """Return the rounds that still take answers."""
        return self.filter(closed_at=None)

    def waiting_for(self, user: User) -> CalibrationRoundQuerySet:
        """Return the open rounds of which this person has something to answer, those that come first first."""
        waits = calibration_waits(user, OuterRef("pk"))
        return self.open().filter(waits).order_by("-comes_first", "id").select_related("dataset")

    def with_progress(self, user: User) -> CalibrationRoundQuerySet:
        """Add how many examples each round asks for now (`size`), and how many of them this person answered (`own`)."""
        items = CalibrationItem.objects.filter(round=OuterRef("pk")).asked().order_by()
        return self.annotate(size=_number(items), own=_number(items.answered_by(user)))


class CalibrationItemQuerySet(models.QuerySet["CalibrationItem"]):
    """Reads of the examples of rounds."""

    def asked(self) -> CalibrationItemQuerySet:
        """Return those whose example is resolved: one that was reopened rests until it is resolved again."""
        return self.filter(is_resolved())

    def answered_by(self, user: User) -> CalibrationItemQuerySet:
        """Return those of which this person has said something."""
        return self.filter(_said_by(user))

    def left_for(self, user: User) -> CalibrationItemQuerySet:
        """Return those that this person has still to answer, in their order."""
        return self.asked().filter(~_said_by(user)).order_by("position")

    def with_content(self) -> CalibrationItemQuerySet:
        """Return items with what their pages show loaded."""
        return self.select_related(
            "round__dataset", "revision__example__dataset__project", "revision__tools", "revision__gold"
        )


class CalibrationAnswerQuerySet(models.QuerySet["CalibrationAnswer"]):
    """Reads of answers."""

    def of_round(self, calibration: CalibrationRound) -> CalibrationAnswerQuerySet:
        """Return what was said of the examples that a round asks for now."""
        return self.filter(is_resolved("item__revision"), item__round=calibration)

    def comparable_by(self, user: User) -> CalibrationAnswerQuerySet:
        """Return one's own answers, and the others' of rounds that one has answered or that are closed."""
        return self.filter(Q(reviewer=user) | comparable_calibration(user))

    def counts(self) -> dict[Any, int]:
        """Return how many of these answers each person gave, by the person's id; of people who left by None."""
        return dict(self.order_by().values_list("reviewer").annotate(n=Count("pk")))


def _said_by(user: User) -> Exists:
    return Exists(CalibrationAnswer.objects.filter(item=OuterRef("pk"), reviewer=user))


def _number(items: CalibrationItemQuerySet) -> Coalesce:
    counted = items.values("round").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


class CalibrationRound(models.Model):
    """A set of examples that everyone labels, to learn how the others read the guideline. It makes no gold."""

    id = PublicIdField()
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="calibrations")
    name = models.CharField(max_length=120)
    # Whether no one is handed examples of the dataset before they have answered it, while it is open.
    comes_first = models.BooleanField(default=False)
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True)

    objects = CalibrationRoundQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["-id"]


class CalibrationItem(models.Model):
    """One example of a calibration round, at its place."""

    id = PublicIdField()
    round = models.ForeignKey(CalibrationRound, on_delete=models.CASCADE, related_name="items")
    position = models.PositiveIntegerField()
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="+")

    objects = CalibrationItemQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["position"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["round", "position"], name="calibration_position"),
            models.UniqueConstraint(fields=["round", "revision"], name="calibration_revision"),
        ]


class CalibrationAnswer(models.Model):
    """The answer of one person to one example of a round."""

    id = PublicIdField()
    item = models.ForeignKey(CalibrationItem, on_delete=models.CASCADE, related_name="answers")
    reviewer = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    answer = models.CharField(max_length=12, choices=LabelAnswer.choices)
    expectation = DocumentField(null=True)
    rationale = models.TextField(blank=True)
    seconds = models.FloatField(default=0)
    created_at = MomentField(auto_now_add=True)

    objects = CalibrationAnswerQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["item", "reviewer"], name="one_calibration_answer_each"),
        ]
