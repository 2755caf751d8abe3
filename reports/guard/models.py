"""Store what the rules of a policy's version would refuse in graded runs and of gold: measured once, and kept."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from labeling.models import Revision
from toolevals.registry.models import PolicyVersion, ToolList
from toolevals.runs.models import CaseGrade
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Job, Project, User


class PolicyRatesQuerySet(models.QuerySet["PolicyRates"]):
    """Reads of measurements."""

    def in_project(self, project: Project) -> PolicyRatesQuerySet:
        """Return the project's measurements, the newest first."""
        rows = self.filter(version__policy__project=project)
        return rows.select_related("version__policy", "job", "tools").order_by("-id")


class PolicyRates(models.Model):
    """One measurement of the rules of a version, with the tools that were on offer then."""

    id = PublicIdField()
    version = models.ForeignKey(PolicyVersion, on_delete=models.CASCADE, related_name="rates")
    tools = models.ForeignKey(ToolList, null=True, on_delete=models.SET_NULL, related_name="+")
    # By the rule's id the document of `reports.guard.analysis.MeasuredRule`; null until it is finished.
    rules = DocumentField(null=True)
    # The runs and datasets that were read: `{"runs": [{"number", "agent"}], "datasets": [...], "left_out": count}`.
    sources = DocumentField(null=True)
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="+")
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    objects = PolicyRatesQuerySet.as_manager()


class PolicyRefusal(models.Model):
    """One call that a rule would refuse: of a case of a run, or of the gold of an example where `case` is null."""

    id = PublicIdField()
    # Without an index of its own, as another begins with it.
    rates = models.ForeignKey(PolicyRates, on_delete=models.CASCADE, related_name="refusals", db_index=False)
    rule = models.CharField(max_length=64)
    case = models.ForeignKey(CaseGrade, null=True, on_delete=models.CASCADE, related_name="+")
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="+")
    # The place of the call among the calls, and the tool.
    call = models.PositiveIntegerField()
    tool = models.CharField(max_length=200)
    # Null where it is not known.
    is_expected = models.BooleanField(null=True)
    pointer = models.TextField()
    # Why; empty of gold, which a page of its own shows to those who may read it.
    sentence = models.TextField(blank=True)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["rates", "rule", "id"], name="policy_refusal"),
        ]
