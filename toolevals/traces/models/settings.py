"""Store what a project says about its traces."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from toolevals.traces.reading.limits import Limits
from toolevals.traces.scrubbing import ScrubRule, rules_of
from toolevals.workspace.fields import DocumentField
from toolevals.workspace.models import Project

RETENTION_DAYS = 30


class TraceSettings(models.Model):
    """The time that traces stay, the share to take, and what is taken out of them. Without a row: the defaults."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, primary_key=True, related_name="trace_settings")
    retention_days = models.PositiveSmallIntegerField(default=RETENTION_DAYS)
    # The share of traces that are taken, 0..1.
    sample_rate = models.FloatField(default=1.0)
    # As `toolevals.traces.scrubbing.rules_of` reads them.
    scrub = DocumentField(default=list)
    # What a trace may take at most, as the rule `cost` judges; null for no limit.
    most_tokens = models.PositiveBigIntegerField(null=True, blank=True)
    most_cost = models.FloatField(null=True, blank=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(condition=models.Q(sample_rate__range=(0, 1)), name="sample_rate_0_to_1"),
            models.CheckConstraint(condition=models.Q(retention_days__gte=1), name="retention_of_a_day"),
            models.CheckConstraint(condition=models.Q(most_cost__gte=0), name="most_cost_of_a_trace"),
        ]

    @property
    def rules(self) -> tuple[ScrubRule, ...]:
        """The rules by which personal data is taken out."""
        return rules_of(self.scrub)

    @property
    def limits(self) -> Limits:
        """Return what a trace may take at most."""
        return Limits(self.most_tokens, self.most_cost)

    @classmethod
    def of(cls, project: Project) -> TraceSettings:
        """Return a project's settings, the defaults where it has none."""
        return cls.objects.filter(project=project).first() or cls(project=project)
