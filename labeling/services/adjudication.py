"""The third person's decision."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from labeling.errors import InvalidAct
from labeling.models import Adjudication, Dispute, Draft, Gold, GoldSource, Label, Resolution, Revision
from labeling.services.expectations import expectation_read, text_required
from labeling.services.resolution import gold_set, revision_locked
from toolevals.workspace.models import User
from toolevals.workspace.services import audit_record


def adjudication_decide(
    *, revision: Revision, actor: User, expectation: Any, rationale: str, seconds: float = 0
) -> Gold:
    """Put an adjudicator's expectation in force where labels differ or the gold is disputed; settle the disputes.

    The same decision again returns its gold. Raises InvalidDocument for a bad expectation or a missing rationale,
    InvalidAct where `actor` has labelled the revision or there is nothing to decide.
    """
    reason = text_required(rationale, name="rationale")
    document = expectation_read(revision, expectation)
    with transaction.atomic():
        locked = revision_locked(revision.pk)
        require_no_own_label(locked, actor)
        disputes = Dispute.objects.filter(revision=locked).open()
        if locked.resolution != Resolution.DISAGREED and not disputes.exists():
            return _same_decision(locked, actor, document, reason)
        adjudication = Adjudication.objects.create(
            revision=locked, adjudicator=actor, expectation=document, rationale=reason, seconds=max(0.0, seconds)
        )
        gold = gold_set(
            locked,
            actor=actor,
            expectation=document,
            rationale=reason,
            source=GoldSource.ADJUDICATED,
            adjudication=adjudication,
        )
        disputes.update(settled_at=timezone.now())
        Draft.objects.filter(revision=locked, user=actor).delete()
        audit_record(
            project=locked.example.dataset.project,
            actor=actor,
            verb="adjudication_decide",
            target=adjudication,
            detail={"revision": str(locked.pk), "gold": str(gold.pk)},
        )
    return gold


def require_no_own_label(revision: Revision, actor: User) -> None:
    """Raise InvalidAct where `actor` has ever labelled the revision: nobody decides about their own work."""
    if Label.objects.filter(revision=revision, reviewer=actor).exists():
        raise InvalidAct("You have labelled this example; someone else must decide.")


def _same_decision(revision: Revision, actor: User, document: dict[str, Any], rationale: str) -> Gold:
    gold = Gold.objects.select_related("adjudication").filter(pk=revision.gold_id).first()
    made = gold.adjudication if gold is not None else None
    if gold is None or made is None or made.adjudicator_id != actor.pk:
        raise InvalidAct("There is nothing to decide: the labels do not differ, or someone has decided already.")
    if (made.expectation, made.rationale) != (document, rationale):
        raise InvalidAct("You have decided this already. Dispute the gold to have it decided again.")
    return gold
