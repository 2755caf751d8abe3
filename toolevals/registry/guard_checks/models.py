"""Stores counts of what the guard was asked, minute by minute."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from toolevals.workspace.fields import PublicIdField
from toolevals.workspace.models import Project

# A longer name is kept by its digest.
LONGEST_NAME = 200


class GuardCount(models.Model):
    """The counts of one key in one minute of the database's clock: of all its calls, or of those of one tool.

    `requests` and `tokens` are of calls that passed or are being decided; `refused` are calls and results refused.
    """

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="guard_counts", db_index=False)
    minute = models.DateTimeField(db_index=True)
    key = models.CharField(max_length=LONGEST_NAME)
    # Empty for all calls of the key.
    tool = models.CharField(max_length=LONGEST_NAME)
    requests = models.BigIntegerField()
    tokens = models.BigIntegerField()
    refused = models.BigIntegerField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "key", "tool", "minute"], name="guard_count_once"),
        ]
