"""Claiming work, keeping it while one works, giving it back.

A claim is a lease on a slot's row. One person's claims take turns (their membership's row is locked), and a slot is
taken by a conditional update of a row that nobody else has locked, so that no slot goes to two and nobody gets two
slots of one revision; two unique constraints say the same. Renewals leave no audit row: they decide nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from labeling.errors import InvalidAct
from labeling.models import Dataset, Draft, LabelSlot, Revision, Skip, SlotState
from labeling.querysets.slots import SlotQuerySet
from toolevals.workspace.models import Membership, Project, User
from toolevals.workspace.services import audit_record


def lease_end(now: datetime) -> datetime:
    """Return until when a slot claimed or renewed now is held."""
    return now + timedelta(seconds=settings.SLOT_LEASE_SECONDS)


def slot_claim(*, dataset_or_project: Dataset | Project, actor: User) -> LabelSlot | None:
    """Return a slot for `actor` to work on: the one they hold already, else the next in turn; None if all is done.

    Revisions that have a label come first, then the oldest.
    """
    project = dataset_or_project.project if isinstance(dataset_or_project, Dataset) else dataset_or_project
    with transaction.atomic():
        Membership.objects.select_for_update().filter(project=project, user=actor).first()
        scope = (
            LabelSlot.objects.of_dataset(dataset_or_project)
            if isinstance(dataset_or_project, Dataset)
            else LabelSlot.objects.in_project(dataset_or_project)
        )
        now = timezone.now()
        held = scope.held_by(actor).only("pk").first()
        if held is not None and slot_renew(slot=held, actor=actor):
            return LabelSlot.objects.with_content().get(pk=held.pk)
        slot = _claim_first(_datasets(dataset_or_project), actor, now)
        if slot is not None:
            audit_record(project=project, actor=actor, verb="slot_claim", target=slot)
    return slot


def slot_renew(*, slot: LabelSlot, actor: User) -> bool:
    """Extend the lease of a slot that `actor` holds; return whether they still hold it."""
    until = lease_end(timezone.now())
    held = LabelSlot.objects.filter(pk=slot.pk, reviewer=actor, state=SlotState.CLAIMED)
    if not held.update(lease_until=until):
        return False
    slot.lease_until = until
    return True


@transaction.atomic
def slot_release(*, slot: LabelSlot, actor: User) -> bool:
    """Give a claimed slot back to the queue; return whether `actor` held it. The draft stays."""
    held = LabelSlot.objects.filter(pk=slot.pk, reviewer=actor, state=SlotState.CLAIMED)
    if not held.update(**_FREE):
        return False
    audit_record(project=slot.dataset.project, actor=actor, verb="slot_release", target=slot)
    return True


@transaction.atomic
def slot_skip(*, slot: LabelSlot, actor: User, reason: str = "") -> Skip:
    """Pass an example on: the slot goes back to the queue, and `actor` is not offered this revision again.

    Skipping twice is skipping once. Raises InvalidAct where `actor` has labelled the revision.
    """
    locked = LabelSlot.objects.select_for_update(of=("self",)).select_related("dataset__project").get(pk=slot.pk)
    own = LabelSlot.objects.filter(revision=locked.revision_id, reviewer=actor)
    if own.filter(state=SlotState.SUBMITTED).exists():
        raise InvalidAct("You have labelled this example; take the label back before you pass it on.")
    skip = Skip.objects.filter(revision=locked.revision_id, reviewer=actor).standing().first()
    if skip is None:
        skip = Skip.objects.create(revision_id=locked.revision_id, reviewer=actor, reason=reason.strip()[:300])
        audit_record(project=locked.dataset.project, actor=actor, verb="slot_skip", target=skip)
    own.filter(state=SlotState.CLAIMED).update(**_FREE)
    return skip


@transaction.atomic
def skip_undo(*, skip: Skip, actor: User) -> LabelSlot | None:
    """Take a skip back and return the revision's slot, claimed again; None where no slot is free any more.

    Raises InvalidAct where the skip is another's.
    """
    if skip.reviewer_id != actor.pk:
        raise InvalidAct("Only the person who passed an example on can take that back.")
    project = skip.revision.example.dataset.project
    Membership.objects.select_for_update().filter(project=project, user=actor).first()
    if Skip.objects.filter(pk=skip.pk, undone_at=None).update(undone_at=timezone.now()):
        audit_record(project=project, actor=actor, verb="skip_undo", target=skip)
    return slot_of_revision(skip.revision_id, actor, timezone.now())


@transaction.atomic
def draft_save(*, revision: Revision, actor: User, document: Any) -> Draft:
    """Keep what `actor` has entered for a revision, and renew their lease on it. Leaves no audit row."""
    draft, _ = Draft.objects.update_or_create(revision=revision, user=actor, defaults={"document": document})
    LabelSlot.objects.filter(revision=revision, reviewer=actor, state=SlotState.CLAIMED).update(
        lease_until=lease_end(timezone.now())
    )
    return draft


def slot_of_revision(revision_id: Any, actor: User, now: datetime) -> LabelSlot | None:
    """Return this person's slot of a revision, claiming a free one where they have none; None where none is left.

    Runs in the caller's transaction.
    """
    slots = LabelSlot.objects.filter(revision=revision_id)
    own = slots.select_for_update(of=("self",)).filter(reviewer=actor).first()
    return own or _take(slots, actor, now)


_FREE: dict[str, Any] = {"state": SlotState.OPEN, "reviewer": None, "claimed_at": None, "lease_until": None}


def _datasets(scope: Dataset | Project) -> Iterable[Dataset]:
    # One dataset after the other: each has its queue in one index.
    return [scope] if isinstance(scope, Dataset) else scope.datasets.order_by("id")


def _claim_first(datasets: Iterable[Dataset], actor: User, now: datetime) -> LabelSlot | None:
    for dataset in datasets:
        slot = _take(LabelSlot.objects.of_dataset(dataset), actor, now)
        if slot is not None:
            return slot
    return None


def _take(slots: SlotQuerySet, actor: User, now: datetime) -> LabelSlot | None:
    """Claim the first of `slots` that is free and fit for this person."""
    fit = slots.free(now).for_reviewer(actor).in_turn().select_for_update(skip_locked=True, of=("self",))
    while (candidate := fit.only("pk").first()) is not None:
        chosen = LabelSlot.objects.filter(pk=candidate.pk)
        if chosen.free(now).update(state=SlotState.CLAIMED, reviewer=actor, claimed_at=now, lease_until=lease_end(now)):
            return chosen.with_content().get()
    return None
