"""Claim work, keep it while one works, give it back.

A claim is a lease on a slot's row. One person's claims take turns (their membership's row is locked), and a slot is
taken by a conditional update of a row that no one else has locked, so that no slot goes to two and no one gets two
slots of one revision; two unique constraints say the same. Code that locks a revision and its slots locks the revision
first. Renewals leave no audit row: they decide nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import transaction

from labeling.adjudicate.resolution import revision_evaluate, revision_locked
from labeling.errors import CalibrationFirst, InvalidAct
from labeling.label.queries import slot_for_page
from labeling.label.querysets import SlotQuerySet
from labeling.label.statements import Begun, first_in_turn, has_begun, locked_role
from labeling.models import (
    CalibrationRound,
    Dataset,
    Draft,
    LabelBatch,
    LabelSlot,
    QuestionView,
    Revision,
    Skip,
    SlotState,
)
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project, Role, User

FEW = 500
QUEUED = (SlotState.OPEN, SlotState.CLAIMED)


def begun_revisions(user: User) -> list[UUID]:
    """Return the ids of the revisions of this person's newest drafts, at most `FEW`."""
    return list(Draft.objects.filter(user=user).order_by("-id").values_list("revision", flat=True)[:FEW])


def kept_slots(user: User) -> list[UUID]:
    """Return the ids of the slots that are kept for this person and not labelled, at most `FEW`."""
    return list(LabelSlot.objects.filter(assignee=user, state__in=QUEUED).values_list("pk", flat=True)[:FEW])


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


# Long enough for a reload, or a step aside and back, to find the claim still held.
# A part of the queue.
Tier = SlotQuerySet | Dataset | LabelBatch
LEAVING_GRACE = timedelta(seconds=60)
QUESTION_READ = (
    "You have read a question about this example, so another person will label it. Continue with the next example."
)


def lease_end(now: datetime) -> datetime:
    """Return until when a slot claimed or renewed now is held."""
    return now + timedelta(seconds=settings.SLOT_LEASE_SECONDS)


def slot_claim(
    *,
    dataset_or_project: Dataset | Project,
    actor: User,
    batch: LabelBatch | None = None,
    beside: LabelSlot | None = None,
) -> LabelSlot | None:
    """Return a slot for `actor` to work on: the one they hold already, else the next in turn; None if all is done.

    First comes what they have begun, then what is kept for them, then their own batches, then everything else; in each
    of these, what was reopened comes first, then what the dataset's order says, whatever others have labelled. With
    `batch`, its slots only. With `beside`, the slot that they are at work on, it is one more, to be held ahead of time:
    None where they do not hold that any more, or hold another elsewhere in the project.
    """
    project = dataset_or_project.project if isinstance(dataset_or_project, Dataset) else dataset_or_project
    with transaction.atomic():
        require_labelling(project, actor)
        now = database_now()
        held = _held(dataset_or_project, batch, actor, beside)
        if beside is not None and not _may_hold_one_more(project, actor, beside, held):
            return None
        if held is not None and _renewed(held, actor):
            return slot_for_page(project, held)
        begun = has_begun(actor)
        if begun.calibration:
            _require_calibrated(batch.dataset if batch is not None else dataset_or_project, actor)
        slot = _take_first(_tiers(dataset_or_project, batch, actor, begun), project, actor, now)
        if slot is not None:
            audit_record(project=project, actor=actor, verb="slot_claim", target=slot)
    return slot


def slot_reclaim(*, slot: LabelSlot, actor: User) -> LabelSlot | None:
    """Return this person's slot of the revision, claimed again where their claim ran out or was given back.

    For a page that is still open, or shown again. None where they have neither a slot nor a draft of it, where others
    have the work, or where it is not for this person. Raises InvalidAct where they have opened another's question.
    """
    project = slot.dataset.project
    with transaction.atomic():
        require_labelling(project, actor)
        slots = LabelSlot.objects.filter(revision=slot.revision_id).of_current_round()
        own = slots.filter(reviewer=actor).with_content().first()
        begun = _kept_first(slots.begun_by(actor), actor)
        claimed = own or _take_first(begun, project, actor, database_now())
        if claimed is None:
            require_unread(slot.revision, actor)
        if claimed is not None and own is None:
            audit_record(project=project, actor=actor, verb="slot_claim", target=claimed)
    return claimed


def slot_leave(*, slot: LabelSlot, actor: User) -> bool:
    """Let a claim that `actor` holds end in a minute unless it is renewed; return whether they hold it.

    Like a renewal it leaves no audit row: it decides nothing.
    """
    held = LabelSlot.objects.filter(pk=slot.pk, reviewer=actor, state=SlotState.CLAIMED)
    until = database_now() + LEAVING_GRACE
    held.filter(lease_until__gt=until).update(lease_until=until)
    return held.exists()


def slot_renew(*, slot: LabelSlot, actor: User) -> bool:
    """Extend the lease of a slot that `actor` holds; return whether they still hold it."""
    until = _renewed(slot.pk, actor)
    if until is None:
        return False
    slot.lease_until = until
    return True


@transaction.atomic
def slot_release(*, slot: LabelSlot, actor: User) -> bool:
    """Give a claimed slot back to the queue; return whether `actor` held it. The draft stays, and comes first again."""
    held = LabelSlot.objects.filter(pk=slot.pk, reviewer=actor, state=SlotState.CLAIMED)
    if not held.update(**FREE):
        return False
    audit_record(project=slot.dataset.project, actor=actor, verb="slot_release", target=slot)
    return True


@transaction.atomic
def slot_skip(*, slot: LabelSlot, actor: User, reason: str = "") -> Skip:
    """Pass an example on: the slot goes back to the queue, and `actor` is not offered this revision again.

    Skipping twice is skipping once. When two people have skipped it, the adjudicators get it. Raises InvalidAct where
    `actor` has labelled the revision.
    """
    revision = revision_locked(slot.revision_id)
    own = LabelSlot.objects.filter(revision=revision, round=revision.round)
    if own.filter(reviewer=actor, state=SlotState.SUBMITTED).exists():
        raise InvalidAct("You have labelled this example; undo the label before you skip the example.")
    skip = Skip.objects.filter(revision=revision, reviewer=actor).standing().first()
    if skip is None:
        skip = Skip.objects.create(revision=revision, reviewer=actor, reason=reason.strip()[:300])
        audit_record(project=revision.example.dataset.project, actor=actor, verb="slot_skip", target=skip)
    own.filter(reviewer=actor, state=SlotState.CLAIMED).update(**FREE)
    own.filter(assignee=actor).update(assignee=None)
    revision_evaluate(revision)
    return skip


@transaction.atomic
def skip_undo(*, skip: Skip, actor: User) -> LabelSlot | None:
    """Take a skip back and return the revision's slot, claimed again; None where no slot is free any more.

    Raises InvalidAct where the skip is another's, or this person has opened another's question about the example.
    """
    if skip.reviewer_id != actor.pk:
        raise InvalidAct("Only the person who passed an example on can take that back.")
    project = skip.revision.example.dataset.project
    require_labelling(project, actor)
    revision = revision_locked(skip.revision_id)
    if Skip.objects.filter(pk=skip.pk, undone_at=None).update(undone_at=database_now()):
        audit_record(project=project, actor=actor, verb="skip_undo", target=skip)
        revision_evaluate(revision)
    slot = slot_of_revision(revision, actor)
    if slot is None:
        require_unread(revision, actor)
    return slot


@transaction.atomic
def draft_save(*, revision: Revision, actor: User, document: Any) -> Draft:
    """Keep what `actor` has entered for a revision, and renew their lease on it. Leaves no audit row."""
    draft, _ = Draft.objects.update_or_create(revision=revision, user=actor, defaults={"document": document})
    LabelSlot.objects.filter(revision=revision, reviewer=actor, state=SlotState.CLAIMED).update(
        lease_until=lease_end(database_now())
    )
    return draft


def slot_of_revision(revision: Revision, actor: User) -> LabelSlot | None:
    """Return this person's slot in the current round of a locked revision, claiming a free one where they have none.

    None where none is left for them. Runs in the caller's transaction.
    """
    own = slot_of_round(revision, actor)
    if own is not None:
        return own
    slots = LabelSlot.objects.filter(revision=revision, round=revision.round)
    return _take_first(_kept_first(slots, actor), revision.example.dataset.project, actor, database_now())


FREE: dict[str, Any] = {"state": SlotState.OPEN, "reviewer": None, "claimed_at": None, "lease_until": None}


def require_labelling(project: Project, actor: User) -> None:
    """Let one person's claims in a project, and the end of their membership, wait for each other.

    Raises PermissionDenied where they label here no longer. Runs in the caller's transaction, before it locks anything
    else.
    """
    role = locked_role(project, actor)
    if role is None or role < Role.REVIEWER:
        raise PermissionDenied("You do not label in this project any more. Its owners can make you a reviewer again.")


def require_unread(revision: Revision, actor: User) -> None:
    """Raise InvalidAct where this person has opened another's question about a revision."""
    if QuestionView.objects.filter(revision=revision, user=actor).exists():
        raise InvalidAct(QUESTION_READ)


def _held(
    scope: Dataset | Project, batch: LabelBatch | None, actor: User, beside: LabelSlot | None = None
) -> UUID | None:
    """Return the id of what this person has claimed in a part of the queue and not submitted, `beside` apart."""
    held = _scope(scope, batch).held_by(actor).values_list("pk", flat=True)
    return held.exclude(pk=beside.pk).first() if beside is not None else held.first()


def _may_hold_one_more(project: Project, actor: User, beside: LabelSlot, held: UUID | None) -> bool:
    """Tell whether a person at work on `beside` holds nothing else in the project but what is `held`, if anything."""
    claimed = set(LabelSlot.objects.in_project(project).held_by(actor).values_list("pk", flat=True))
    return beside.pk in claimed and (held is not None or len(claimed) == 1)


def _renewed(slot: UUID, actor: User) -> datetime | None:
    """Extend the lease of a slot that this person holds; return until when, None where they do not hold it."""
    until = lease_end(database_now())
    held = LabelSlot.objects.filter(pk=slot, reviewer=actor, state=SlotState.CLAIMED)
    return until if held.update(lease_until=until) else None


def _require_calibrated(place: Dataset | Project, actor: User) -> None:
    """Raise CalibrationFirst where there is a round that this person has to answer before they are handed examples."""
    first = calibration_first(place, actor)
    if first is not None:
        raise CalibrationFirst(first)


def _scope(scope: Dataset | Project, batch: LabelBatch | None) -> SlotQuerySet:
    if batch is not None:
        return LabelSlot.objects.of_batch(batch)
    return LabelSlot.objects.in_scope(scope)


def _tiers(scope: Dataset | Project, batch: LabelBatch | None, actor: User, begun: Begun) -> Iterator[Tier]:
    """Yield the parts of the queue, what comes first first; last whole datasets."""
    # By ids, which are few: SQLite would go through the whole queue to find them in their order.
    if begun.drafts:
        yield _scope(scope, batch).filter(revision__in=begun_revisions(actor))
    if begun.kept:
        yield _scope(scope, batch).filter(pk__in=kept_slots(actor))
    if batch is not None:
        yield batch
        return
    if begun.batches:
        yield from LabelBatch.objects.in_work(scope).filter(owner=actor)
    # One dataset after the other: each has its queue in one index.
    yield from [scope] if isinstance(scope, Dataset) else scope.datasets.order_by("id")


def _kept_first(slots: SlotQuerySet, actor: User) -> Iterator[Tier]:
    """Yield what is kept for this person, then all: who took another would leave their own to no one."""
    yield slots.filter(assignee=actor)
    yield slots


def _take_first(tiers: Iterator[Tier], project: Project, actor: User, now: datetime) -> LabelSlot | None:
    """Claim the first slot of the first of `tiers` that has one which is free and fit for this person."""
    for tier in tiers:
        while (candidate := first_free(tier, actor, now)) is not None:
            if claim(candidate, actor, now, lease_end(now)):
                return slot_for_page(project, candidate)
    return None
