"""Store what people said of examples elsewhere: labels under the names that the file gives, and notes.

A label takes a place of its example as one that is given here does: where labels differ, an adjudicator decides. No
account is made, and nothing is known of what its author had seen: no figure of blind labels counts it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import Case, F, Q, When

from labeling.blindness import RESOLVED
from labeling.imports.publish_import import slots_insert
from labeling.models import (
    Comment,
    Dataset,
    Example,
    Label,
    LabelSlot,
    Resolution,
    Revision,
    SlotState,
    StagedExample,
)
from toolevals.grading.values.canonical import canonical
from toolevals.json_types import JsonObject
from toolevals.workspace.clock import database_now
from toolevals.workspace.paging import pages_of

# So many rows of a file are stored in one transaction.
AT_ONCE = 500


@dataclass(slots=True)
class Judged:
    """The effect of an import's judgements: labels by how many people, notes, and labels that came too late."""

    labels: int = 0
    changed: int = 0
    late: int = 0
    notes: int = 0
    people: set[str] = field(default_factory=set)

    def to_document(self, *, with_people: bool = True) -> JsonObject:
        """Return the counts by name, without those that are 0. Counts of people of several pages do not add up."""
        counts = {
            "labels": self.labels,
            "labels_of_people": len(self.people) if with_people else 0,
            "labels_changed": self.changed,
            "labels_too_late": self.late,
            "notes": self.notes,
        }
        return {name: count for name, count in counts.items() if count}


def staged_judgements(key: UUID) -> Iterator[Sequence[StagedExample]]:
    """Yield the rows staged under a job's id, or a part's, that hold judgements, some at a time, in their order."""
    every = StagedExample.objects.filter(Q(part__job=key) | Q(part=key), judgements__isnull=False)
    return pages_of(every.only("external_id", "digest", "judgements"), AT_ONCE)


def judgements_publish(dataset: Dataset, rows: Sequence[StagedExample], judged: Judged) -> None:
    """Store the judgements of published rows within the caller's transaction, and count them; twice is once.

    The dataset's row is locked, as other imports do.
    """
    Dataset.objects.select_for_update(of=("self",)).get(pk=dataset.pk)
    names = Example.objects.of_dataset(dataset).filter(external_id__in={row.external_id for row in rows})
    shown = dict(names.values_list("external_id", "current"))
    locked = Revision.objects.select_for_update(of=("self",)).filter(pk__in=list(shown.values())).order_by("pk")
    revisions = {revision.pk: revision for revision in locked}
    places = _Places(dataset, list(revisions.values()))
    for row in rows:
        revision = revisions.get(shown[row.external_id]) if row.external_id in shown else None
        # Where the example shows other content by now, nothing was said of that.
        if revision is not None and revision.digest == row.digest:
            for said in row.judgements:
                places.take(revision, said, judged)
    places.store()


class _Places:
    """The labels, notes and places of some locked revisions, and what comes to them."""

    def __init__(self, dataset: Dataset, revisions: list[Revision]) -> None:
        self.dataset = dataset
        found = [revision.pk for revision in revisions]
        self._make_missing(revisions)
        self.slots: dict[UUID, list[LabelSlot]] = defaultdict(list)
        self.numbers: dict[UUID, int] = {}
        slots = LabelSlot.objects.filter(revision__in=found, round=F("revision__round")).order_by("number", "pk")
        for slot in slots:
            self.numbers[slot.revision_id] = max(self.numbers.get(slot.revision_id, -1), slot.number)
            if slot.state == SlotState.OPEN and slot.assignee_id is None:
                self.slots[slot.revision_id].append(slot)
        # Of every round: what is imported again is not said afresh of an example that was reopened.
        labels = Label.objects.filter(revision__in=found).exclude(external_author="").select_related("slot")
        self.labels = {(label.revision_id, label.external_author): label for label in labels.order_by("pk")}
        notes = Comment.objects.filter(revision__in=found).exclude(external_author="")
        self.notes = set(notes.values_list("revision", "external_author", "text"))
        self.new_slots: list[LabelSlot] = []
        self.taken: list[UUID] = []
        self.new_labels: list[Label] = []
        self.new_notes: list[Comment] = []

    def _make_missing(self, revisions: list[Revision]) -> None:
        """Make the places of those that are to be labelled and have none yet."""
        is_open = [revision.pk for revision in revisions if revision.resolution == Resolution.OPEN]
        lacking = Revision.objects.filter(pk__in=is_open, slots=None).order_by("pk")
        slots_insert(self.dataset, lacking.values_list("pk", "example__external_id"))

    def take(self, revision: Revision, said: JsonObject, judged: Judged) -> None:
        """Take one judgement of a revision, unless it is there already."""
        author, expectation, text = said["author"], said.get("expectation"), said.get("text", "")
        if expectation is None:
            if (revision.pk, author, text) not in self.notes:
                self.notes.add((revision.pk, author, text))
                self.new_notes.append(Comment(revision=revision, external_author=author, text=text))
                judged.notes += 1
            return
        before = self.labels.get((revision.pk, author))
        if before is not None and canonical(before.expectation) == canonical(expectation):
            return
        if before is not None and revision.resolution in RESOLVED:
            judged.late += 1
            return
        if before is not None and before.slot.round != revision.round:
            before = None
        label = Label(
            slot=self._slot(revision) if before is None else before.slot,
            revision=revision,
            external_author=author,
            expectation=expectation,
            rationale=text,
            is_first=before is None,
        )
        self.labels[revision.pk, author] = label
        self.new_labels.append(label)
        judged.labels += before is None
        judged.changed += before is not None
        judged.people.add(author)

    def _slot(self, revision: Revision) -> LabelSlot:
        """Return a free place of a revision, or one more."""
        if self.slots[revision.pk]:
            slot = self.slots[revision.pk].pop(0)
            self.taken.append(slot.pk)
            return slot
        self.numbers[revision.pk] = self.numbers.get(revision.pk, -1) + 1
        slot = LabelSlot(
            dataset=self.dataset,
            revision=revision,
            round=revision.round,
            number=self.numbers[revision.pk],
            state=SlotState.SUBMITTED,
            priority=None,
        )
        self.new_slots.append(slot)
        return slot

    def store(self) -> None:
        """Write what came, and have the labels compared where all are in."""
        LabelSlot.objects.filter(pk__in=self.taken).update(state=SlotState.SUBMITTED, lease_until=None, priority=None)
        LabelSlot.objects.bulk_create(self.new_slots)
        Label.objects.bulk_create(self.new_labels)
        Comment.objects.bulk_create(self.new_notes)
        now = database_now()
        # What people here may still change waits until they may not.
        when: Any = Case(When(settles_at__gt=now, then=F("settles_at")), default=now)
        labelled = {label.revision_id for label in self.new_labels}
        Revision.objects.filter(pk__in=labelled, resolution=Resolution.OPEN).update(settles_at=when)
