"""Stores the policies that traces are checked by."""

from __future__ import annotations

import hashlib
from typing import ClassVar

from django.db import models

from toolevals.registry.models import Policy
from toolevals.traces.intake.models import Trace
from toolevals.workspace.fields import MomentField
from toolevals.workspace.models import Project, User

_BITS = 48
_LIMIT: int = 2**_BITS


class TracePolicyQuerySet(models.QuerySet["TracePolicy"]):
    """Policies of traces."""

    def in_project(self, project: Project) -> TracePolicyQuerySet:
        """Return those of a project with their policies, by name."""
        rows = self.filter(policy__project=project).select_related("policy__active", "policy__project")
        return rows.order_by("policy__name", "pk")


class TracePolicy(models.Model):
    """A policy that a share of the traces is checked by; its verdicts stay where the share is set to 0."""

    policy = models.OneToOneField(Policy, on_delete=models.CASCADE, related_name="of_traces")
    # The share of traces, 0 to 1, by the trace's id.
    share = models.FloatField()
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)

    objects = TracePolicyQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(condition=models.Q(share__range=(0, 1)), name="share_of_a_trace_policy"),
        ]

    def __str__(self) -> str:
        return self.policy.name

    def takes(self, trace: Trace) -> bool:
        """Tell whether a trace is in the share: always the same ones, and those of a smaller share too."""
        digest = hashlib.sha256(f"policy {trace.trace_id.hex}".encode()).digest()
        return int.from_bytes(digest[: _BITS // 8], "big") < self.share * _LIMIT
