"""Gates that runs were held against, and the badges that show the newest."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from reports.querysets.gates import HeldGateQuerySet
from toolevals.grading.gates.values import GateResult
from toolevals.runs.models import Experiment, Grading, Run
from toolevals.workspace.fields import DocumentField, PublicIdField
from toolevals.workspace.models import Job, Project, User


class HeldGate(models.Model):
    """One gate, the run that was held against it, and how that came out. Immutable once it is decided."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="held_gates")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="held_gates")
    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="held_gates")
    # What was asked: the document of `gate.v1.json`.
    gate = DocumentField()
    # What the run was compared with, and how it was found: a number, `branch:NAME`, `last-passing`, or empty.
    baseline = models.ForeignKey(Grading, null=True, on_delete=models.SET_NULL, related_name="+")
    baseline_asked = models.CharField(max_length=220, blank=True)
    is_release_candidate = models.BooleanField(default=False)
    # The run with several trials of each example, of a release candidate.
    consistency = models.ForeignKey(Grading, null=True, on_delete=models.SET_NULL, related_name="+")
    # What was built, in the words of whoever asked.
    branch = models.CharField(max_length=200, blank=True)
    commit = models.CharField(max_length=64, blank=True)
    # Passed, warned, failed or unanswered; empty until it is decided.
    status = models.CharField(max_length=10, blank=True)
    # The document of `toolevals.grading.gates.values.GateResult`; null until it is decided.
    result = DocumentField(null=True)
    job = models.OneToOneField(Job, null=True, on_delete=models.SET_NULL, related_name="held_gate")
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = HeldGateQuerySet.as_manager()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["project", "id"], name="held_gate_newest"),
            models.Index(fields=["project", "branch", "id"], name="held_gate_branch"),
        ]

    def __str__(self) -> str:
        return f"gate of run {self.run.number}"

    @property
    def outcome(self) -> GateResult | None:
        """How it came out, None until it is decided."""
        return None if self.result is None else GateResult.from_document(self.result)


class GateBadge(models.Model):
    """The secret address at which anybody may see whether an experiment's newest gate is passed."""

    experiment = models.OneToOneField(Experiment, on_delete=models.CASCADE, primary_key=True, related_name="gate_badge")
    key = models.CharField(max_length=43, unique=True)
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"badge of {self.experiment}"
