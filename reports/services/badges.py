"""Make the address of a badge, and take it back."""

from __future__ import annotations

import secrets

from django.db import transaction

from reports.models import GateBadge
from toolevals.runs.models import Experiment
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.models import User


@transaction.atomic
def badge_make(*, experiment: Experiment, actor: User | None) -> GateBadge:
    """Return the experiment's badge under a new address; an older address shows nothing from now on."""
    key = secrets.token_urlsafe(32)
    badge, _ = GateBadge.objects.update_or_create(experiment=experiment, defaults={"key": key, "actor": actor})
    audit_record(project=experiment.project, actor=actor, verb="badge_make", target=experiment)
    return badge


@transaction.atomic
def badge_drop(*, experiment: Experiment, actor: User | None) -> None:
    """Take the address of an experiment's badge back, if there is one."""
    if GateBadge.objects.filter(experiment=experiment).delete()[0]:
        audit_record(project=experiment.project, actor=actor, verb="badge_drop", target=experiment)
