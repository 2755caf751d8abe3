"""Store what the rules of a policy's version would refuse in runs, of gold and in traces, and what people say of it."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from labeling.models import Revision
from toolevals.registry.models import Policy, PolicyVersion, ToolList
from toolevals.runs.models import CaseGrade
from toolevals.traces.models import Trace
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
    # What was read: `{"runs": [{"number", "agent"}], "datasets": [...], "left_out": count, "traces": {...}}`.
    sources = DocumentField(null=True)
    # So many of the newest traces were asked for.
    traces = models.PositiveIntegerField(default=0)
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="+")
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    objects = PolicyRatesQuerySet.as_manager()


class PolicyRefusal(models.Model):
    """One call that a rule would refuse: of a trace, of a case of a run, or else of the gold of an example."""

    id = PublicIdField()
    # Without an index of its own, as another begins with it.
    rates = models.ForeignKey(PolicyRates, on_delete=models.CASCADE, related_name="refusals", db_index=False)
    rule = models.CharField(max_length=64)
    case = models.ForeignKey(CaseGrade, null=True, on_delete=models.CASCADE, related_name="+")
    # The example's text; null of a trace.
    revision = models.ForeignKey(Revision, null=True, on_delete=models.CASCADE, related_name="+")
    trace = models.ForeignKey(Trace, null=True, on_delete=models.CASCADE, related_name="+")
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


class RefusalMark(models.Model):
    """The word of one person on a call that a rule of a policy refuses, in whatever measurement: it is no gold.

    `subject` is the id of the trace, of the run's transcript, or of the revision whose gold it is; `call` its place.
    """

    id = PublicIdField()
    # Without an index of its own, as another begins with it.
    policy = models.ForeignKey(Policy, on_delete=models.CASCADE, related_name="refusal_marks", db_index=False)
    rule = models.CharField(max_length=64)
    subject = models.UUIDField()
    call = models.PositiveIntegerField()
    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    # Whether the call should have been allowed.
    is_false = models.BooleanField()
    created_at = MomentField(auto_now_add=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["policy", "rule", "subject", "call", "person"], name="refusal_mark_once"),
        ]
