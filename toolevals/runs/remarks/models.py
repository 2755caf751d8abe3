"""Store what people say of cases: tags and notes. They stay with what the agent did, whichever grading is shown."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from labeling.models import Revision
from toolevals.runs.runs.models import Transcript
from toolevals.workspace.fields import MomentField, PublicIdField
from toolevals.workspace.models import User


class CaseTag(models.Model):
    """A word of the team's own on one trial, to find its like again."""

    id = PublicIdField()
    transcript = models.ForeignKey(Transcript, on_delete=models.CASCADE, related_name="tags", db_index=False)
    tag = models.CharField(max_length=40)
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["tag"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["transcript", "tag"], name="case_tag"),
        ]

    def __str__(self) -> str:
        return self.tag


class CaseNote(models.Model):
    """The note of a person on one trial."""

    id = PublicIdField()
    transcript = models.ForeignKey(Transcript, on_delete=models.CASCADE, related_name="notes")
    text = models.TextField()
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["id"]


class RevisionTurn(models.Model):
    """The number of the user's messages that a revision shows; it never changes, as the revision does not."""

    revision = models.OneToOneField(Revision, on_delete=models.CASCADE, primary_key=True, related_name="+")
    turn = models.PositiveIntegerField()
