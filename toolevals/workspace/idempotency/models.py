"""Stores answers already given, so that a repeated upload is not a second one."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import ClassVar

from django.db import models

from toolevals.workspace.accounts.models import User
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.projects.models import Project


class IdempotencyKey(models.Model):
    """The answer to the first request that carried a key; kept for a day."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=200)
    # SHA-256 of method, path and body: the same key on another request is a conflict.
    request_digest = models.CharField(max_length=64)
    # Null only within the transaction of the request: no one else sees that.
    status = models.PositiveSmallIntegerField(null=True)
    answer = DocumentField(null=True)
    created_at = MomentField(auto_now_add=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "user", "key"], name="one_answer_per_key"),
        ]


KEPT = timedelta(days=1)


def idempotency_keys_forget(now: datetime) -> None:
    """Delete the answers that are older than a day."""
    IdempotencyKey.objects.filter(created_at__lt=now - KEPT).delete()
