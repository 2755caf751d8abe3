"""Store what came of people's labels, for their authors to read."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from labeling.models.gold import Adjudication, Gold
from labeling.models.labels import Label
from labeling.querysets.feedback import FeedbackQuerySet
from toolevals.workspace.fields import PublicIdField
from toolevals.workspace.models import User


class Feedback(models.Model):
    """The decision about an example that a person had labelled. A later decision takes its place."""

    id = PublicIdField()
    label = models.OneToOneField(Label, on_delete=models.CASCADE, related_name="feedback")
    reviewer = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_index=False)
    # Null where the example was set aside.
    gold = models.ForeignKey(Gold, null=True, on_delete=models.CASCADE, related_name="+")
    # Null where earlier gold was put in force again.
    adjudication = models.ForeignKey(Adjudication, null=True, on_delete=models.CASCADE, related_name="+")
    # Whether the decision means something other than the label.
    differs = models.BooleanField()
    seen_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = FeedbackQuerySet.as_manager()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["reviewer", "differs", "-id"], name="feedback_reviewer"),
            models.Index(fields=["reviewer"], name="feedback_unseen", condition=models.Q(seen_at=None, differs=True)),
        ]
