"""Assign parts of a dataset's labelling to owners, keep work for one person, and take both back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Q, QuerySet

from labeling.errors import InvalidAct
from labeling.label.querysets import SlotQuerySet
from labeling.models import Dataset, Example, LabelBatch, LabelSlot, Revision, SlotState
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import AuditEntry, Membership, Role, User

AT_ONCE = 500
MAX_EXAMPLES = 20_000
_MAY_BE_NULL = ("owner", "due_on", "closed_at")


@dataclass(frozen=True, slots=True)
class Choice:
    """The examples to choose: of these strata, of these names (all where none is named), the first so many in turn."""

    strata: dict[str, str] = field(default_factory=dict)
    names: Sequence[str] = ()
    first: int = MAX_EXAMPLES


def names_unknown(names: Sequence[str], dataset: Dataset, batch: LabelBatch | None = None) -> list[int]:
    """Return the places, from 0, of the ids that no example of the dataset, or of this batch of it, has."""
    examples = Example.objects.filter(dataset=dataset, external_id__in=names)
    examples = examples.filter(revisions__slots__batch=batch) if batch else examples
    known = set(examples.values_list("external_id", flat=True))
    return [place for place, name in enumerate(names) if name not in known]


@transaction.atomic
def batch_create(
    *,
    dataset: Dataset,
    actor: User | None,
    name: str,
    choice: Choice,
    owner: User | None = None,
    due_on: date | None = None,
    note: str = "",
) -> LabelBatch:
    """Return a new batch of the chosen examples that are in no other and still want labels.

    Raises InvalidAct where there is none, or where the owner does not label here, `ValidationError` for a taken name,
    InvalidDocument for ids that no example has, each at its place in `/external_ids`.
    """
    _require_reviewer(dataset, owner)
    _require_known(dataset, choice)
    batch = LabelBatch(dataset=dataset, name=name.strip(), owner=owner, due_on=due_on, note=note.strip())
    batch.full_clean(exclude=_MAY_BE_NULL)
    waiting = _waiting(dataset, choice).filter(batch=None)
    revisions = list(dict.fromkeys(waiting.in_turn().values_list("revision", flat=True)))[: choice.first]
    if not revisions:
        raise InvalidAct("None of these examples can be added: each is fully labelled or already in a batch.")
    batch.save()
    for some in _locked(revisions):
        _queued(dataset).filter(revision__in=some, batch=None).update(batch=batch)
    detail = {"name": batch.name, "examples": len(revisions)}
    audit_record(project=dataset.project, actor=actor, verb="batch_create", target=batch, detail=detail)
    return batch


@transaction.atomic
def batch_update(
    *, batch: LabelBatch, actor: User | None, name: str, owner: User | None, due_on: date | None, note: str = ""
) -> LabelBatch:
    """Change what is said about a batch.

    Raises InvalidAct for an owner who does not label here or a batch that is closed, `ValidationError`.
    """
    if batch.closed_at is not None:
        raise InvalidAct("A closed batch cannot be changed.")
    if owner is not None and owner.pk != batch.owner_id:
        _require_reviewer(batch.dataset, owner)
    batch.name, batch.owner, batch.due_on, batch.note = name.strip(), owner, due_on, note.strip()
    batch.full_clean(exclude=_MAY_BE_NULL)
    batch.save(update_fields=["name", "owner", "due_on", "note"])
    audit_record(project=batch.dataset.project, actor=actor, verb="batch_update", target=batch)
    return batch


@transaction.atomic
def batch_close(*, batch: LabelBatch, actor: User | None) -> LabelBatch:
    """End a batch. What still wants labels is in no batch again and kept for no one; what was labelled stays counted.

    Closing twice is closing once.
    """
    now = database_now()
    if not LabelBatch.objects.filter(pk=batch.pk, closed_at=None).update(closed_at=now):
        batch.refresh_from_db()
        return batch
    batch.closed_at = now
    queued = LabelSlot.objects.of_batch(batch).filter(priority__isnull=False)
    for some in _locked(list(queued.values_list("revision", flat=True).distinct())):
        queued.filter(revision__in=some).update(batch=None, assignee=None)
    audit_record(project=batch.dataset.project, actor=actor, verb="batch_close", target=batch)
    return batch


@transaction.atomic
def batch_discard(*, batch: LabelBatch, actor: User | None) -> None:
    """Take a new batch back, as if it had never been made.

    Raises InvalidAct where something has happened in it since: a label, a change, work kept for someone.
    """
    slots = LabelSlot.objects.of_batch(batch)
    list(_locked(slots.values_list("revision", flat=True)))
    later = AuditEntry.objects.filter(target_id=batch.pk).exclude(verb="batch_create")
    if later.exists() or slots.filter(state=SlotState.SUBMITTED).exists():
        raise InvalidAct(f"The batch “{batch.name}” stays: something has happened in it since. It can be closed.")
    detail = {"name": batch.name}
    audit_record(project=batch.dataset.project, actor=actor, verb="batch_discard", target=batch, detail=detail)
    batch.delete()


@transaction.atomic
def slots_assign(
    *,
    dataset: Dataset,
    actor: User | None,
    person: User,
    choice: Choice,
    batch: LabelBatch | None = None,
    due_on: date | None = None,
) -> int:
    """Keep one free place of each chosen example for one person, of a batch or of the dataset; return how many.

    What is kept for them already gets the day when it is due, too. Examples that the person may not label, or has a
    place in, are passed over. Raises InvalidAct for someone who does not label here, InvalidDocument for ids that no
    example has, each at its place in `/external_ids`.
    """
    _require_reviewer(dataset, person)
    _require_known(dataset, choice, batch)
    now = database_now()
    fit = _waiting(dataset, choice, batch).free(now).for_reviewer(person)
    first: dict[Any, Any] = {}
    theirs = []
    for revision, slot, assignee in fit.in_turn().values_list("revision", "pk", "assignee"):
        if assignee == person.pk:
            first[revision] = None
            theirs.append(slot)
        first.setdefault(revision, slot)
    chosen = {revision: slot for revision, slot in first.items() if slot is not None}
    kept = 0
    for some in _locked(list(chosen)[: choice.first]):
        slots = LabelSlot.objects.filter(pk__in=[chosen[revision] for revision in some], assignee=None)
        kept += slots.free(now).update(assignee=person, due_on=due_on)
    LabelSlot.objects.filter(pk__in=theirs, assignee=person).update(due_on=due_on)
    detail = {"person": str(person.pk), "examples": kept, "due_on": due_on.isoformat() if due_on else None}
    audit_record(project=dataset.project, actor=actor, verb="slots_assign", target=batch or dataset, detail=detail)
    return kept


@transaction.atomic
def slots_unassign(
    *,
    dataset: Dataset,
    actor: User | None,
    choice: Choice,
    person: User | None = None,
    batch: LabelBatch | None = None,
) -> int:
    """Keep the chosen examples for no one, or for this person no more; return how many places are free again.

    Raises InvalidDocument as `slots_assign`.
    """
    _require_known(dataset, choice, batch)
    kept = _waiting(dataset, choice, batch).filter(assignee__isnull=False)
    kept = kept.filter(assignee=person) if person else kept
    free = 0
    for some in _locked(list(kept.in_turn().values_list("revision", flat=True)[: choice.first])):
        # By ids: a statement that joins other tables cannot change rows.
        pks = list(kept.filter(revision__in=some).values_list("pk", flat=True))
        free += LabelSlot.objects.filter(pk__in=pks).update(assignee=None)
    detail = {"person": str(person.pk) if person else None, "examples": free}
    audit_record(project=dataset.project, actor=actor, verb="slots_unassign", target=batch or dataset, detail=detail)
    return free


class Kept(NamedTuple):
    """The person, by their key, for whom a place is kept, and until which day; as JSON says them."""

    person: str | None
    due_on: str | None


class Change(NamedTuple):
    """A change of the person for whom a place is kept."""

    before: Kept
    after: Kept


def places_locked(dataset: Dataset, names: Sequence[str]) -> dict[str, Kept]:
    """Return for whom the places of examples that still want a label are kept; lock these examples' revisions."""
    waiting = _waiting(dataset, Choice(names=names))
    list(_locked(waiting.values_list("revision", flat=True)))
    return {
        str(pk): Kept(str(person) if person else None, due_on.isoformat() if due_on else None)
        for pk, person, due_on in waiting.values_list("pk", "assignee", "due_on")
    }


@transaction.atomic
def slots_restore(*, dataset: Dataset, actor: User | None, changes: Mapping[str, Change]) -> int:
    """Keep places for whom they were kept before they were changed; return how many.

    A place that has changed again is left. So is one that cannot be kept for that person any more: it is another's, or
    they do not label here, or they have a place of the example by now.
    """
    now, back, alike = database_now(), 0, defaultdict(list)
    for pk, change in changes.items():
        alike[change].append(pk)
    waiting = _queued(dataset).of_current_round()
    list(_locked(waiting.filter(pk__in=changes).values_list("revision", flat=True)))
    for (before, after), pks in alike.items():
        rows = waiting.filter(Q(assignee=after.person, due_on=after.due_on), pk__in=pks)
        if before.person not in (None, after.person):
            person = User.objects.filter(memberships__in=_reviewers(dataset), pk=before.person).first()
            if person is None:
                continue
            own = Q(pk__in=waiting.held_by(person).order_by().values("pk"))
            rows = rows.filter(own | Q(pk__in=waiting.free(now).for_reviewer(person).values("pk")))
            rows = rows.exclude(revision__in=waiting.filter(assignee=person).values("revision"))
        fit = list(rows.values_list("pk", flat=True))
        back += LabelSlot.objects.filter(pk__in=fit).update(assignee=before.person, due_on=before.due_on)
    audit_record(project=dataset.project, actor=actor, verb="slots_restore", target=dataset, detail={"places": back})
    return back


def assignments_free(now: datetime) -> int:
    """Keep for no one what is kept for someone who cannot label it; return how many. A duty of the sweeper."""
    in_vain = list(LabelSlot.objects.kept_in_vain().values_list("pk", flat=True)[:AT_ONCE])
    return LabelSlot.objects.filter(pk__in=in_vain).kept_in_vain().update(assignee=None) if in_vain else 0


def _waiting(dataset: Dataset, choice: Choice, batch: LabelBatch | None = None) -> SlotQuerySet:
    """Return the chosen slots that still want a label."""
    slots = (
        _queued(dataset).of_current_round().filter(**{f"revision__example__{k}": v for k, v in choice.strata.items()})
    )
    slots = slots.filter(revision__example__external_id__in=choice.names) if choice.names else slots
    return slots.filter(batch=batch) if batch else slots


def _queued(dataset: Dataset) -> SlotQuerySet:
    return LabelSlot.objects.of_dataset(dataset).filter(priority__isnull=False)


def _locked(revisions: Iterable[Any]) -> Iterable[Sequence[Any]]:
    """Yield revisions in groups, each locked: who submits a label locks the revision before its slots, too."""
    every = sorted(set(revisions))
    for start in range(0, len(every), AT_ONCE):
        some = every[start : start + AT_ONCE]
        list(Revision.objects.select_for_update().filter(pk__in=some).order_by("pk").values_list("pk"))
        yield some


def _reviewers(dataset: Dataset) -> QuerySet[Membership]:
    return Membership.objects.filter(project=dataset.project_id, role__gte=Role.REVIEWER, user__is_active=True)


def _require_reviewer(dataset: Dataset, person: User | None) -> None:
    if person is None:
        return
    if not _reviewers(dataset).filter(user=person).exists():
        raise InvalidAct(f"{person.name} does not label in this project.")


def _require_known(dataset: Dataset, choice: Choice, batch: LabelBatch | None = None) -> None:
    place = "batch" if batch else "dataset"
    if unknown := names_unknown(choice.names, dataset, batch):
        raise InvalidDocument(
            Problem(f"/external_ids/{number}", f"no example of this {place} has the id “{choice.names[number]}”")
            for number in unknown
        )
