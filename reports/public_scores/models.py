"""Store scores that others have published: to compare runs with, never a gate. History is kept."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from toolevals.workspace.fields import MomentField, PublicIdField
from toolevals.workspace.models import Project, User


class PublicScoreQuerySet(models.QuerySet["PublicScore"]):
    """Reads of published scores."""

    def in_project(self, project: Project) -> PublicScoreQuerySet:
        """Return a project's scores, by benchmark, then by what was measured, the newest first."""
        scores = self.filter(project=project).select_related("actor", "ended_by")
        return scores.order_by("benchmark", "version", "metric", "agent", "-pk")

    def in_force(self) -> PublicScoreQuerySet:
        """Return those that no one has replaced or withdrawn."""
        return self.filter(ended_at__isnull=True)


class PublicScore(models.Model):
    """One published score. A row never changes; another one of the same replaces it, or it is withdrawn."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="public_scores")
    benchmark = models.CharField(max_length=80)
    version = models.CharField(max_length=40, blank=True)
    # A model as agents name it, or an agent's own name.
    agent = models.CharField(max_length=120)
    metric = models.CharField(max_length=80)
    # A share, 0 to 1.
    value = models.FloatField()
    # Over how many cases, where that is published.
    count = models.PositiveIntegerField(null=True)
    published_on = models.DateField()
    source = models.URLField(max_length=500)
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)
    # Since when it is not in force, and who ended that.
    ended_at = models.DateTimeField(null=True)
    ended_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")

    objects = PublicScoreQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["project", "benchmark", "version", "agent", "metric"],
                condition=models.Q(ended_at__isnull=True),
                name="one_public_score_in_force",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.benchmark} {self.version}".strip()
