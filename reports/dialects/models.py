"""Store what other tools say of a grading's cases: kept once for each grading, and never changed."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from toolevals.runs.models import CaseGrade, Grading
from toolevals.workspace.fields import DocumentField, MomentField
from toolevals.workspace.models import Job, User


class DialectReading(models.Model):
    """The cases of one finished grading by the rules of other tools, in the versions that `columns` name."""

    grading = models.OneToOneField(Grading, on_delete=models.CASCADE, primary_key=True, related_name="dialects")
    # The document of `toolevals.grading.dialects.other_verdicts.columns_document`.
    columns = DocumentField()
    # How often each pattern of verdicts occurs: `[[pattern, cases]]`; null until all cases are read.
    counts = DocumentField(null=True)
    # By column the mean of its scores, null without any.
    means = DocumentField(default=dict)
    # Of several trials an example: `[[tool, other tool or "", the six sums of ExampleSums], ...]`, null until made.
    sums = DocumentField(null=True)
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="+")
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)


class DialectCase(models.Model):
    """Every other tool's verdict on one case."""

    # Without an index of its own, as others begin with it.
    reading = models.ForeignKey(DialectReading, on_delete=models.CASCADE, related_name="cases", db_index=False)
    case = models.OneToOneField(CaseGrade, on_delete=models.CASCADE, related_name="dialects")
    # Ours, then a verdict for each column: see `reports.dialects.analysis.Pattern`.
    pattern = models.CharField(max_length=700)
    # `{"scores": [...], "said": {column's place: what the tool says itself}}`
    detail = DocumentField()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            # Counted, and opened to its cases, from this alone.
            models.Index(fields=["reading", "pattern", "case"], name="dialect_pattern"),
        ]
