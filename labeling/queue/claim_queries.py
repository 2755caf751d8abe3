"""Hold the statements of claims: what is read before someone is handed an example, and what is written then."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from labeling.models import CalibrationRound, Dataset, Draft, LabelBatch, LabelSlot, Revision, SlotState
from labeling.querysets.slots import SlotQuerySet
from labeling.queue.statements import first_in_turn
from toolevals.workspace.models import Project, User

FEW = 500
QUEUED = (SlotState.OPEN, SlotState.CLAIMED)


def begun_revisions(user: User) -> list[UUID]:
    """Return the ids of the revisions of this person's newest drafts, at most `FEW`."""
    return list(Draft.objects.filter(user=user).order_by("-id").values_list("revision", flat=True)[:FEW])


def kept_slots(user: User) -> list[UUID]:
    """Return the ids of the slots that are kept for this person and not labelled, at most `FEW`."""
    return list(LabelSlot.objects.filter(assignee=user, state__in=QUEUED).values_list("pk", flat=True)[:FEW])


def held_slot(place: Dataset | Project, user: User) -> UUID | None:
    """Return the id of what this person has claimed in a dataset or project and not submitted, the oldest claim."""
    return LabelSlot.objects.in_scope(place).held_by(user).values_list("pk", flat=True).first()


def slot_of_round(revision: Revision, user: User) -> LabelSlot | None:
    """Return this person's slot in the current round of a locked revision, its row locked."""
    slots = LabelSlot.objects.filter(revision=revision, reviewer=user, round=revision.round)
    return slots.select_for_update().first()


def calibration_first(place: Dataset | Project, user: User) -> CalibrationRound | None:
    """Return a round of a dataset or project that this person has to answer before they are handed examples."""
    rounds = CalibrationRound.objects.in_scope(place).open().filter(comes_first=True)
    return rounds.waiting_for(user).first()


def first_free(slots: SlotQuerySet | Dataset | LabelBatch, user: User, now: datetime) -> UUID | None:
    """Return the id of the first slot that is free and fit for this person, its row locked; None without one."""
    if not isinstance(slots, SlotQuerySet):
        return first_in_turn(slots, user, now)
    fit = slots.of_current_round().free(now).for_reviewer(user).in_turn()
    return fit.select_for_update(skip_locked=True, of=("self",)).values_list("pk", flat=True).first()


def claim(slot: UUID, user: User, now: datetime, until: datetime) -> bool:
    """Write that this person has a slot until then; return whether it was still free."""
    free = LabelSlot.objects.filter(pk=slot).free(now)
    return bool(free.update(state=SlotState.CLAIMED, reviewer=user, claimed_at=now, lease_until=until))
