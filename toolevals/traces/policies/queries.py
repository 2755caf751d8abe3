"""Read how traces are checked by policies, and what these said of the newest."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from django.db.models import Count, Q
from django.utils import timezone

from toolevals.traces.intake.models import first_id
from toolevals.traces.models import SpanVerdict, TracePolicy
from toolevals.traces.policies.rules import policy_rule
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project

# Days, today among them, that are counted.
DAYS: Final = 14


@dataclass(frozen=True, slots=True)
class CheckedPolicy:
    """A policy that traces are checked by, and its verdicts on the calls of traces that came since a day."""

    policy: str
    name: str
    rule: str
    version: int
    share: float
    day: date
    passed: int
    failed: int
    unscored: int

    @property
    def since(self) -> str:
        """The day from which on calls are counted, as addresses say it."""
        return self.day.isoformat()

    @property
    def counts(self) -> tuple[tuple[int, str], ...]:
        """The counts, each with the verdict that lists its traces."""
        return (self.passed, "passed"), (self.failed, "failed"), (self.unscored, "unscored")


def checked_policies(project: Project) -> list[CheckedPolicy]:
    """Return the policies that traces are checked by, or were, each with its counts of the last days."""
    midnight = timezone.localtime(database_now()).replace(hour=0, minute=0, second=0, microsecond=0)
    since = midnight - timedelta(days=DAYS - 1)
    found = []
    for each in TracePolicy.objects.in_project(project):
        rule = policy_rule(each.policy)
        said = SpanVerdict.objects.filter(project=project, rule=rule.name, trace__gte=first_id(since))
        statuses = ("passed", "failed", "unscored")
        counts = said.aggregate(**{status: Count("pk", filter=Q(status=status)) for status in statuses})
        found.append(
            CheckedPolicy(
                each.policy.slug, each.policy.name, rule.name, rule.version, each.share, since.date(), **counts
            )
        )
    return found
