"""Store suspect labels: counted, and counted again when there is more; nothing else depends on them."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from labeling.models import DatasetVersion, VersionEntry
from reports.querysets.suspects import SuspectQuerySet
from toolevals.workspace.fields import DocumentField, PublicIdField
from toolevals.workspace.models import Job


class SuspectCount(models.Model):
    """The time of a count of a version's suspects, and what was counted."""

    version = models.OneToOneField(DatasetVersion, on_delete=models.CASCADE, primary_key=True, related_name="+")
    # A name by content of what there was to count (`reports.suspects.counting`).
    basis = models.CharField(max_length=64, blank=True)
    # Independent agents that were heard.
    voices = models.PositiveIntegerField(default=0)
    counted_at = models.DateTimeField(null=True)
    # Who counts again.
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="+")


class Suspect(models.Model):
    """An example of a version of whose gold something says that it is wrong."""

    id = PublicIdField()
    version = models.ForeignKey(DatasetVersion, on_delete=models.CASCADE, related_name="+", db_index=False)
    entry = models.OneToOneField(VersionEntry, on_delete=models.CASCADE, related_name="+")
    # Without the labels, and with them: who may know of labels is asked when it is shown.
    score = models.FloatField()
    score_with_labels = models.FloatField()
    # Names of `reports.analyses.suspicion.REASONS` between commas, as ",agreement,twins,"; without the labels'.
    kinds = models.CharField(max_length=120, blank=True)
    # Documents of `reports.analyses.suspicion.Reason`, the strongest first; the labels' apart.
    reasons = DocumentField(default=list)
    wavered = DocumentField(null=True)

    objects = SuspectQuerySet.as_manager()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["version", "-score", "entry"], name="suspect_rank"),
        ]
