"""Store what reviewers ask about an example, and what adjudicators answer."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from labeling.models.examples import Revision
from labeling.querysets.talk import CommentQuerySet
from toolevals.workspace.fields import MomentField, PublicIdField
from toolevals.workspace.models import User


class QuestionView(models.Model):
    """One person opened another's question about an example that was not resolved: they are not asked to label it."""

    id = PublicIdField()
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="question_views", db_index=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_index=False)
    created_at = MomentField(auto_now_add=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["revision", "user"], name="question_view_once"),
        ]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["user"], name="question_view_user")]


class Comment(models.Model):
    """One remark in the thread between one reviewer and the adjudicators; other reviewers see it once resolved."""

    id = PublicIdField()
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="comments", db_index=False)
    # The reviewer whose thread it is.
    asker = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    author = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    text = models.TextField()
    # Whether it is the asker's and the newest of its thread: what waits is found without a walk over all that was said.
    is_unanswered = models.BooleanField(default=False, db_default=False)
    created_at = MomentField(auto_now_add=True)

    objects = CommentQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["id"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["revision", "asker", "id"], name="comment_thread"),
            models.Index(fields=["asker", "id"], name="comment_asker"),
            models.Index(fields=["asker"], condition=models.Q(is_unanswered=True), name="comment_unanswered"),
        ]
