"""Changes what a project says about its traces."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from toolevals.traces.models import TraceSettings
from toolevals.traces.reading.limits import NO_LIMITS, Limits
from toolevals.traces.scrubbing import ScrubRule
from toolevals.workspace.models import Project, User
from toolevals.workspace.services.audit import audit_record


@transaction.atomic
def trace_settings_update(
    *,
    project: Project,
    actor: User | None,
    retention_days: int,
    sample_rate: float,
    rules: Sequence[ScrubRule],
    limits: Limits = NO_LIMITS,
) -> TraceSettings:
    """Set how long traces stay, which share is taken, what is taken out, and what each may take, from now on.

    Raises `ValidationError`.
    """
    found = TraceSettings(
        project=project,
        retention_days=retention_days,
        sample_rate=sample_rate,
        scrub=[rule.as_document() for rule in rules],
        most_tokens=limits.tokens,
        most_cost=limits.cost,
    )
    found.full_clean(validate_unique=False, exclude=["project", "scrub"])
    said = {
        "retention_days": retention_days,
        "sample_rate": sample_rate,
        "most_tokens": limits.tokens,
        "most_cost": limits.cost,
    }
    TraceSettings.objects.update_or_create(project=project, defaults={**said, "scrub": found.scrub})
    detail = {**said, "rules": [rule.title for rule in rules]}
    audit_record(project=project, actor=actor, verb="trace_settings_update", target=project, detail=detail)
    return found
