"""Store what a lint found."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from labeling.datasets.models import Dataset
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Job


class LintReport(models.Model):
    """The findings of a lint of a dataset; the newest is shown."""

    id = PublicIdField()
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="lints")
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="+")
    # Findings and counts: see `labeling.lint`.
    document = DocumentField()
    created_at = MomentField(auto_now_add=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-id"]
