"""Writes the audit log: one row for each act."""

from __future__ import annotations

from django.db.models import Model

from toolevals.json_types import JsonMapping
from toolevals.workspace.models import AuditEntry, Project, User


def audit_record(
    *,
    project: Project | None,
    actor: User | None,
    verb: str,
    target: Model,
    detail: JsonMapping | None = None,
) -> None:
    """Write down that `actor` (None: the system) did `verb` to `target`.

    Called inside the transaction of the service whose name is the verb, so that the act and its row are one.
    `detail` is JSON that helps a reader; never a secret, and never what a label says.
    """
    AuditEntry.objects.create(
        project=project,
        actor=actor,
        verb=verb,
        target_type=target._meta.label_lower,
        target_id=target.pk,
        detail=dict(detail or {}),
    )
