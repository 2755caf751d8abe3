"""Store calibration rounds: solved examples that everyone who labels answers once, blind, to compare readings."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from labeling.models.datasets import Dataset
from labeling.models.examples import Revision
from labeling.models.labels import LabelAnswer
from labeling.querysets.calibration import (
    CalibrationAnswerQuerySet,
    CalibrationItemQuerySet,
    CalibrationRoundQuerySet,
)
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import User


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
