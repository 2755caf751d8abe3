"""Handing in a label, changing it, taking it back. Nothing is overwritten: each act adds a row or a time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from labeling.errors import InvalidAct
from labeling.models import Draft, Label, LabelSlot, Resolution, Revision, Skip, SlotState
from labeling.services.expectations import expectation_read
from labeling.services.resolution import revision_evaluate, revision_locked
from labeling.services.slots import lease_end, slot_of_revision
from toolevals.workspace.models import User
from toolevals.workspace.services import audit_record

PAIR_FIRST = 1


def label_submit(
    *,
    slot: LabelSlot,
    actor: User,
    expectation: Any,
    rationale: str = "",
    flagged: bool = False,
    seconds: float = 0,
) -> Label:
    """Store a label and return it; if it is the last one wanted, compare it with the others.

    The same content again is the same label: a retry adds nothing. Other content is a change of mind, possible until
    the example is resolved. A claim that ran out still counts while any slot of the revision is free. Raises
    InvalidDocument for an expectation that does not fit the offered tools, InvalidAct where no slot is left or the
    example is resolved.
    """
    document = expectation_read(slot.revision, expectation)
    with transaction.atomic():
        revision = revision_locked(slot.revision_id)
        place = _place(revision, actor)
        previous = _newest(place, actor)
        if previous is not None and _same(previous, document, rationale.strip(), flagged=flagged):
            return previous
        if previous is not None and revision.resolution == Resolution.RESOLVED:
            raise InvalidAct("This example is resolved; its labels no longer change. You can dispute its gold.")
        label = Label.objects.create(
            slot=place,
            revision=revision,
            reviewer=actor,
            expectation=document,
            rationale=rationale.strip(),
            flagged=flagged,
            seconds=max(0.0, seconds),
        )
        LabelSlot.objects.filter(pk=place.pk).update(state=SlotState.SUBMITTED, lease_until=None, priority=None)
        _raise_others(revision)
        Draft.objects.filter(revision=revision, user=actor).delete()
        audit_record(
            project=revision.example.dataset.project,
            actor=actor,
            verb="label_submit",
            target=label,
            detail={"revision": str(revision.pk)},
        )
        revision_evaluate(revision)
    return label


def label_withdraw(*, label: Label, actor: User) -> LabelSlot:
    """Take one's newest label back within the project's undo time and return its slot, claimed again.

    Taking it back twice is taking it back once. Raises InvalidAct where it is too late.
    """
    if label.reviewer_id != actor.pk:
        raise InvalidAct("Only its author can take a label back.")
    with transaction.atomic():
        revision = revision_locked(label.revision_id)
        slot = LabelSlot.objects.with_content().select_for_update(of=("self",)).get(pk=label.slot_id)
        newest = Label.objects.filter(slot=slot).order_by("-id")[0]
        if newest.pk != label.pk:
            raise InvalidAct("A newer label has taken this one's place.")
        if newest.withdrawn_at is not None:
            return slot
        project, now = revision.example.dataset.project, timezone.now()
        if revision.resolution == Resolution.RESOLVED or now > label.created_at + timedelta(
            seconds=project.undo_seconds
        ):
            raise InvalidAct("The time to take this label back has passed.")
        Label.objects.filter(pk=label.pk).update(withdrawn_at=now)
        current = revision.example.current_id == revision.pk
        slot.state = SlotState.CLAIMED if current else SlotState.CLOSED
        slot.claimed_at, slot.lease_until = now, lease_end(now) if current else None
        slot.priority = PAIR_FIRST if current else None
        slot.save(update_fields=["state", "claimed_at", "lease_until", "priority"])
        audit_record(
            project=project, actor=actor, verb="label_withdraw", target=label, detail={"revision": str(revision.pk)}
        )
        revision_evaluate(revision)
    return slot


def _place(revision: Revision, actor: User) -> LabelSlot:
    """Return the slot that takes this person's label of a locked revision. Raises InvalidAct."""
    if Skip.objects.filter(revision=revision, reviewer=actor).standing().exists():
        raise InvalidAct("You passed this example on; take that back first.")
    place = slot_of_revision(revision.pk, actor, timezone.now())
    if place is None:
        raise InvalidAct("Your claim on this example ran out, and others have labelled it meanwhile.")
    return place


def _newest(slot: LabelSlot, actor: User) -> Label | None:
    return Label.objects.filter(slot=slot, reviewer=actor).in_force().first()


def _same(label: Label, document: dict[str, Any], rationale: str, *, flagged: bool) -> bool:
    return (label.expectation, label.rationale, label.flagged) == (document, rationale, flagged)


def _raise_others(revision: Revision) -> None:
    """Let the slots that a revision still has free come first: a pair that is finished can be compared."""
    revision.slots.filter(state__in=[SlotState.OPEN, SlotState.CLAIMED]).update(priority=PAIR_FIRST)
