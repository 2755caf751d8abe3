"""Writes the audit log: one row for each act. Opens it for what destroys a project or deletes a person."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import Model

from toolevals.json_types import JsonMapping
from toolevals.workspace.audit.documents import audit_document
from toolevals.workspace.models import AuditEntry, AuditOpening, Project, User

_stream = logging.getLogger("toolevals.audit")


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
    entry = AuditEntry.objects.create(
        project=project,
        actor=actor,
        verb=verb,
        target_type=target._meta.label_lower,
        target_id=target.pk,
        detail=dict(detail or {}),
    )
    if settings.AUDIT_LOG:
        transaction.on_commit(lambda: _stream.info("%s", verb, extra={"audit": audit_document(entry)}))


@contextmanager
def audit_opened(*, project: Project | None = None, person: User | None = None) -> Iterator[None]:
    """Let the block, one transaction, delete the acts in `project`, or take `person` out of the acts.

    For a person, acts of theirs may get no actor, and `detail` of any act may get other words. The database refuses
    everything else, and everything outside such a block.
    """
    opened = {"project": project and project.pk, "person": person and person.pk}
    with transaction.atomic():
        opening = AuditOpening.objects.create(**opened, held_by_id=uuid4())
        yield
        AuditOpening.objects.filter(pk=opening.pk).delete()
