"""Store what is derived from labels for agreement: it can be made again at any time, and nothing else depends on it."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from labeling.datasets.models import Dataset
from labeling.label.models import Label
from toolevals.workspace.fields import DocumentField
from toolevals.workspace.models import Job


class LabelReading(models.Model):
    """A label in a form that can be counted. Neither ever changes: see `labeling.agreement.cases`."""

    label = models.OneToOneField(Label, on_delete=models.CASCADE, primary_key=True, related_name="reading")
    # The tool or tools that it calls, or the class of a label that calls none.
    tool = models.CharField(max_length=200)
    # The same for labels that mean the same, and for no others.
    meaning = models.CharField(max_length=32)
    # Tool -> argument -> what it must be, as a digest.
    arguments = DocumentField(default=dict)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["tool", "label"], name="reading_tool")]


class AgreementReport(models.Model):
    """The figures of a dataset, with one set of filters, as they were at one moment.

    Kept where counting takes longer than a page may; dropped as soon as what it counted is no longer resolved.
    """

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="+")
    # The filters, as a digest.
    key = models.CharField(max_length=64)
    # See `labeling.agreement.report`.
    document = DocumentField(null=True)
    counted_at = models.DateTimeField(null=True)
    # Who counts again.
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["dataset", "key"], name="agreement_report_key"),
        ]
