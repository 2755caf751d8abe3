"""Store what people think of single judgements."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from toolevals.runs.models.gradings import CaseGrade
from toolevals.runs.models.judging import Judge
from toolevals.runs.querysets.thumbs import ThumbQuerySet
from toolevals.workspace.fields import MomentField, PublicIdField
from toolevals.workspace.models import User


class Thumb(models.Model):
    """A thumb up or down on a judge's verdict on one case. Another takes its place; none is ever taken away."""

    id = PublicIdField()
    case = models.ForeignKey(CaseGrade, on_delete=models.CASCADE, related_name="thumbs")
    rubric = models.CharField(max_length=50)
    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="thumbs")
    person = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    # Null where the person took it back.
    is_up = models.BooleanField(null=True)
    note = models.TextField(blank=True)
    # Whether it is what the person says now.
    is_current = models.BooleanField(default=True)
    created_at = MomentField(auto_now_add=True)

    objects = ThumbQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["case", "rubric", "person"], condition=Q(is_current=True), name="one_thumb_each"
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["judge", "is_current"], name="thumb_judge")]

    @property
    def words(self) -> str:
        """Return what it says."""
        return {True: "up", False: "down", None: "taken back"}[self.is_up]
