"""Hold the statements of claims: what is read before someone is handed an example, and what is written then.

They are put together once in a process.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Exists

from labeling.models import CalibrationRound, Dataset, Draft, LabelBatch, LabelSlot, SlotState
from labeling.querysets.slots import SlotQuerySet
from toolevals.workspace.models import Membership, Project, User
from toolevals.workspace.querysets.prepared import A_MOMENT, ANOTHER_MOMENT, PreparedQuery, an_id
from toolevals.workspace.querysets.prepared_writes import PreparedUpdate

FEW = 500
QUEUED = (SlotState.OPEN, SlotState.CLAIMED)


class Begun(NamedTuple):
    """Holds what a person may have begun, or be meant to do, before the queue of a dataset.

    `calibration`: whether there is a round that they have to answer before they are handed examples.
    """

    drafts: bool
    kept: bool
    batches: bool
    calibration: bool


def has_begun(place: Dataset | Project, user: User) -> Begun:
    """Return what a person has to do before the queue of a dataset or project. One statement."""
    query = _BEGUN_IN_DATASET if isinstance(place, Dataset) else _BEGUN_IN_PROJECT
    return Begun(*map(bool, query.rows(place=place.pk, user=user.pk)[0]))


def begun_revisions(user: User) -> list[Any]:
    """Return the ids of the revisions of this person's newest drafts, at most `FEW`, as the driver gives them."""
    return [row[0] for row in _BEGUN_REVISIONS.rows(user=user.pk)]


def kept_slots(user: User) -> list[Any]:
    """Return the ids of the slots that are kept for this person and not labelled, at most `FEW`."""
    return [row[0] for row in _KEPT.rows(user=user.pk)]


def held_slot(place: Dataset | Project, user: User) -> UUID | None:
    """Return the id of what this person has claimed in a dataset or project and not submitted, the oldest claim."""
    query = _HELD_OF_DATASET if isinstance(place, Dataset) else _HELD_OF_PROJECT
    slot: LabelSlot | None = query.first(place=place.pk, user=user.pk)
    return slot.pk if slot is not None else None


def slot_of_round(revision: UUID, user: User) -> LabelSlot | None:
    """Return this person's slot in a revision's current round, its row locked."""
    slot: LabelSlot | None = _SLOT_OF_ROUND.first(revision=revision, user=user.pk)
    return slot


def calibration_first(place: Dataset | Project, user: User) -> CalibrationRound | None:
    """Return a round of a dataset or project that this person has to answer before they are handed examples."""
    query = _FIRST_OF_DATASET if isinstance(place, Dataset) else _FIRST_OF_PROJECT
    calibration: CalibrationRound | None = query.first(place=place.pk, user=user.pk)
    return calibration


def locked_role(project: Project, user: User) -> int | None:
    """Return the role of a person in a project, the row of their membership locked; None where they have none."""
    rows = _ROLE.rows(project=project.pk, user=user.pk)
    return int(rows[0][0]) if rows else None


def first_free(tier: SlotQuerySet | Dataset, user: User, now: datetime) -> Sequence[tuple[Any, ...]]:
    """Return the id of the first slot that is free and fit for this person, its row locked; nothing without one."""
    if isinstance(tier, Dataset):
        return _FREE_OF_DATASET.rows(dataset=tier.pk, user=user.pk, now=now)
    return list(_fit_in_turn(tier, user, now))


def claim(slot: Any, user: User, now: datetime, until: datetime) -> bool:
    """Write that this person has a slot until then; return whether it was still free."""
    return bool(_CLAIM.run(slot=slot, user=user.pk, now=now, until=until))


def _slot_of_round(revision: Any, user: Any) -> Any:
    slots = LabelSlot.objects.filter(revision=revision, reviewer=user).of_current_round()
    return slots.select_for_update(of=("self",))


def _first(rounds: Any, user: Any) -> Any:
    return rounds.filter(comes_first=True).waiting_for(user)[:1]


def _begun(rounds: Any, user: Any) -> Any:
    kept = LabelSlot.objects.filter(assignee=user, state__in=QUEUED)
    own = LabelBatch.objects.filter(owner=user, closed_at=None)
    drafts = Draft.objects.filter(user=user)
    asked = (drafts, kept, own, rounds.filter(comes_first=True).waiting_for(user))
    return User.objects.filter(pk=user).order_by().values_list(*(Exists(each.order_by()) for each in asked))


def _fit_in_turn(slots: SlotQuerySet, user: Any, now: datetime) -> Any:
    fit = slots.of_current_round().free(now).for_reviewer(user).in_turn()
    return fit.select_for_update(skip_locked=True, of=("self",)).values_list("pk")[:1]


_ONE, _OTHER = an_id(0), an_id(1)
_PLACE, _USER = {"place": _ONE, "user": _OTHER}, {"user": _ONE}

_BEGUN_IN_DATASET = PreparedQuery(
    lambda place, user: _begun(CalibrationRound.objects.filter(dataset=place), user), _PLACE
)
_BEGUN_IN_PROJECT = PreparedQuery(lambda place, user: _begun(CalibrationRound.objects.in_project(place), user), _PLACE)
_BEGUN_REVISIONS = PreparedQuery(
    lambda user: Draft.objects.filter(user=user).order_by("-id").values_list("revision")[:FEW], _USER
)
_KEPT = PreparedQuery(
    lambda user: LabelSlot.objects.filter(assignee=user, state__in=QUEUED).values_list("pk")[:FEW], _USER
)
_HELD_OF_DATASET, _HELD_OF_PROJECT = (
    PreparedQuery(build, _PLACE, by_values=True)
    for build in (
        lambda place, user: LabelSlot.objects.of_dataset(place).held_by(user).only("pk")[:1],
        lambda place, user: LabelSlot.objects.in_project(place).held_by(user).only("pk")[:1],
    )
)
_SLOT_OF_ROUND = PreparedQuery(_slot_of_round, {"revision": _ONE, "user": _OTHER})
_FIRST_OF_DATASET = PreparedQuery(
    lambda place, user: _first(CalibrationRound.objects.filter(dataset=place), user), _PLACE
)
_FIRST_OF_PROJECT = PreparedQuery(lambda place, user: _first(CalibrationRound.objects.in_project(place), user), _PLACE)
_ROLE = PreparedQuery(
    lambda project, user: Membership.objects.select_for_update().filter(project=project, user=user).values_list("role"),
    {"project": _ONE, "user": _OTHER},
)
_FREE_OF_DATASET = PreparedQuery(
    lambda dataset, user, now: _fit_in_turn(LabelSlot.objects.of_dataset(dataset), user, now),
    {"dataset": _ONE, "user": _OTHER, "now": A_MOMENT},
)
_CLAIM = PreparedUpdate(
    lambda slot, user, now, until: (
        LabelSlot.objects.filter(pk=slot).free(now),
        {"state": SlotState.CLAIMED, "reviewer": user, "claimed_at": now, "lease_until": until},
    ),
    {"slot": _ONE, "user": _OTHER, "now": A_MOMENT, "until": ANOTHER_MOMENT},
)
