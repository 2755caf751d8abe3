"""Dispute gold, or withdraw a dispute. To change gold is an adjudication."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from labeling.blindness import RESOLVED
from labeling.errors import InvalidAct
from labeling.models import Dispute, Revision
from labeling.services.adjudication import require_stranger
from labeling.services.expectations import expectation_read, text_required
from labeling.services.resolution import revision_locked
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import User


def dispute_open(*, revision: Revision, actor: User | None, reason: str, expectation: Any = None) -> Dispute:
    """Ask an adjudicator to look at a revision's gold again, or at why it was set aside.

    The same dispute while it is open is the same row.

    `expectation`: what it should be, where that is known. Raises InvalidDocument for a bad one or a missing reason,
    InvalidAct where the revision is not resolved, or its dataset was deleted.
    """
    text = text_required(reason, name="reason")
    document = None if expectation is None else expectation_read(revision, expectation)
    with transaction.atomic():
        locked = revision_locked(revision.pk)
        if locked.example.dataset.is_deleted:
            raise InvalidAct("The dataset of this example was deleted: its gold cannot be disputed any more.")
        if locked.resolution not in RESOLVED:
            raise InvalidAct("This example has no gold yet: there is nothing to dispute.")
        for dispute in Dispute.objects.filter(revision=locked, actor=actor, reason=text).open():
            if dispute.expectation == document:
                return dispute
        dispute = Dispute.objects.create(revision=locked, actor=actor, reason=text, expectation=document)
        audit_record(
            project=locked.example.dataset.project,
            actor=actor,
            verb="dispute_open",
            target=dispute,
            detail={"revision": str(locked.pk)},
        )
    return dispute


def dispute_settle(*, dispute: Dispute, actor: User) -> Dispute:
    """Close a dispute and leave the gold as it is.

    Raises InvalidAct where `actor` has labelled the revision, or disputes its gold.
    """
    with transaction.atomic():
        revision = revision_locked(dispute.revision_id)
        require_stranger(revision, actor)
        if Dispute.objects.filter(pk=dispute.pk).open().update(settled_at=database_now()):
            audit_record(
                project=revision.example.dataset.project,
                actor=actor,
                verb="dispute_settle",
                target=dispute,
                detail={"revision": str(revision.pk)},
            )
    dispute.refresh_from_db()
    return dispute
