"""Tell what is done to the policies that traces are checked by."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Final

from django.db import transaction

from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.registry.models import Policy
from toolevals.traces.models import Trace, TracePolicy
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project, User

# Of the traces that are there, the newest that are checked as well, and the days that may be asked for.
MOST_AGAIN: Final = 5_000
MOST_DAYS: Final = 365


@transaction.atomic
def trace_policy_set(
    *, project: Project, actor: User | None, policy: Policy, share: float, days: int = 0
) -> tuple[TracePolicy, int]:
    """Check a share of the traces, 0 to 1, by a policy from now on; none with 0.

    With `days`, those that came within so many days are checked as well, the newest MOST_AGAIN: they are summed up
    again. Return how many. Raises InvalidDocument.
    """
    problems = []
    if policy.project_id != project.pk:
        problems.append(Problem("/policy", "is not of this project"))
    if not (math.isfinite(share) and 0 <= share <= 1):
        problems.append(Problem("/share", "must be from 0 to 1"))
    if not 0 <= days <= MOST_DAYS:
        problems.append(Problem("/days", f"must be from 0 to {MOST_DAYS}"))
    if problems:
        raise InvalidDocument(problems)
    row, _ = TracePolicy.objects.update_or_create(
        policy=policy, defaults={"share": share}, create_defaults={"share": share, "actor": actor}
    )
    again = _again(project, days) if days else 0
    detail = {"policy": policy.slug, "share": share, "days": days, "traces_again": again}
    audit_record(project=project, actor=actor, verb="trace_policy_set", target=policy, detail=detail)
    return row, again


def _again(project: Project, days: int) -> int:
    now = database_now()
    traces = Trace.objects.in_project(project).summed_up().between(now - timedelta(days=days), None)
    newest = traces.filter(due_at=None).order_by("-pk").values_list("pk", flat=True)[:MOST_AGAIN]
    return Trace.objects.filter(pk__in=list(newest), due_at=None).update(due_at=now)
