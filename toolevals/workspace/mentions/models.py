"""Store who was mentioned where, until they have read it."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from toolevals.workspace.accounts.models import User
from toolevals.workspace.fields import MomentField, PublicIdField
from toolevals.workspace.projects.models import Project


class Mention(models.Model):
    """One member, mentioned in one text. Whether they may read that is asked again each time: see `queries`."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="mentions", db_index=False)
    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_index=False)
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    # The row that holds the text, such as a comment: its model's label and its id.
    target_type = models.CharField(max_length=60)
    target_id = models.UUIDField()
    created_at = MomentField(auto_now_add=True)
    read_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["target_id", "person"], name="one_mention_each"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["person", "project", "-id"], name="mention_person"),
            models.Index(fields=["person"], condition=models.Q(read_at=None), name="mention_unread"),
        ]
