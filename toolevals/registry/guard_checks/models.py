"""Stores counts of what the guard was asked: by minute, for its rates, and by day, for people."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from toolevals.registry.policies.models import Policy
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


class GuardDay(models.Model):
    """The decisions of a policy for one key on one day (UTC): on all checks, or the refusals of one rule.

    A check of a call or of a result is refused, would be refused by a rule in audit, or is simply allowed.
    """

    id = PublicIdField()
    # Without an index of its own, as another begins with it.
    policy = models.ForeignKey(Policy, on_delete=models.CASCADE, related_name="days", db_index=False)
    day = models.DateField(db_index=True)
    key = models.CharField(max_length=LONGEST_NAME)
    # Empty for all checks of the key.
    rule = models.CharField(max_length=64)
    allowed = models.BigIntegerField()
    would_refuse = models.BigIntegerField()
    refused = models.BigIntegerField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["policy", "day", "key", "rule"], name="guard_day_once"),
        ]

    @property
    def day_text(self) -> str:
        """The day as it is written in files."""
        return self.day.isoformat()
