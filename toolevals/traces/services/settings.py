"""Changes of what a project says about its traces."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from toolevals.traces.models import TraceSettings
from toolevals.traces.scrubbing import ScrubRule
from toolevals.workspace.models import Project, User
from toolevals.workspace.services import audit_record


@transaction.atomic
def trace_settings_update(
    *, project: Project, actor: User | None, retention_days: int, sample_rate: float, rules: Sequence[ScrubRule]
) -> TraceSettings:
    """Set how long traces stay, which share is taken, and what is taken out of those that come from now on.

    Raises `ValidationError`.
    """
    found = TraceSettings(
        project=project,
        retention_days=retention_days,
        sample_rate=sample_rate,
        scrub=[rule.as_document() for rule in rules],
    )
    found.full_clean(validate_unique=False, exclude=["project", "scrub"])
    TraceSettings.objects.update_or_create(
        project=project,
        defaults={"retention_days": retention_days, "sample_rate": sample_rate, "scrub": found.scrub},
    )
    detail = {"retention_days": retention_days, "sample_rate": sample_rate, "rules": [rule.title for rule in rules]}
    audit_record(project=project, actor=actor, verb="trace_settings_update", target=project, detail=detail)
    return found
