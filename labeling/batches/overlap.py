"""Change how many people label each example, while the labelling goes on.

What is open is brought to the new number, in a job: places are added, or free ones are closed. No one who is at work
loses their place, no label is dropped, and what has all its labels already stays as it is. An example's name alone
decides: it gives the same answer in every import, and a larger share takes in all that a smaller one did.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import F

from labeling.adjudicate.resolution import revision_evaluate
from labeling.batches.ordering import turn_of
from labeling.models import Dataset, LabelSlot, Resolution, Revision, SlotState
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.bulk import others_write_first
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import Lease
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Job, Project, User

AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Overlap:
    """`wanted` labels for a `share` (0..1) of the examples, one label for the others."""

    wanted: int
    share: float

    @classmethod
    def of(cls, project: Project) -> Overlap:
        """Return what a project has set."""
        return cls(project.labels_wanted, project.labels_share)

    def labels_for(self, external_id: str, round_number: int = 1) -> int:
        """Return how many labels the example of this name gets; one that was reopened gets all."""
        return self.wanted if round_number > 1 or _place(external_id) < self.share else 1


def _place(external_id: str) -> float:
    """Return where a name stands between 0 and 1, evenly spread, 1 excluded."""
    digest = hashlib.sha256(external_id.encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


@transaction.atomic
def labelling_set(
    *,
    project: Project,
    actor: User | None,
    labels_wanted: int,
    labels_share: float,
    undo_seconds: int,
    decide_own: bool,
    suggestions: bool,
) -> Job | None:
    """Change how a project labels; return the job that brings open examples to another number, if it is another.

    Raises `ValidationError`.
    """
    before = Overlap.of(project)
    said = {
        "labels_wanted": labels_wanted,
        "labels_share": labels_share,
        "undo_seconds": undo_seconds,
        "decide_own": decide_own,
        "suggestions": suggestions,
    }
    for name, value in said.items():
        setattr(project, name, value)
    project.full_clean()
    project.save(update_fields=list(said))
    audit_record(project=project, actor=actor, verb="labelling_set", target=project, detail=said)
    return overlap_apply(project=project, actor=actor) if Overlap.of(project) != before else None


@transaction.atomic
def overlap_apply(*, project: Project, actor: User | None) -> Job:
    """Bring the open examples of a project to the number of labels that it wants; return the job that does it."""
    plans = [
        BatchPlan("labeling.overlap", {"dataset": str(pk)}) for pk in project.datasets.values_list("pk", flat=True)
    ]
    title = f"Labels for each example: {project.labels_wanted}"
    job = job_create(project=project, actor=actor, kind="overlap", title=title, batches=plans)
    audit_record(project=project, actor=actor, verb="overlap_apply", target=project, detail={"job": str(job.pk)})
    return job


def overlap_work(lease: Lease) -> None:
    """Bring one dataset's open examples to the wanted number: what a batch of the job does. Twice is once.

    A dataset that was deleted meanwhile is left as it is.
    """
    dataset = Dataset.objects.select_related("project").filter(pk=lease.payload["dataset"]).first()
    if dataset is None:
        return
    last: Any = None
    while True:
        with lease.transaction():
            # As imports do: neither adds places while the other does.
            Dataset.objects.select_for_update(of=("self",)).get(pk=dataset.pk)
            page = _page(dataset, last)
            if not page:
                return
            lease.report(dict(_bring(dataset, page)))
            last = page[-1].pk
        others_write_first()


def _page(dataset: Dataset, last: Any) -> list[Revision]:
    """Return the next open revisions, locked: their labels wait for this transaction."""
    rows = Revision.objects.current().filter(example__dataset=dataset, resolution=Resolution.OPEN)
    rows = rows.filter(pk__gt=last) if last is not None else rows
    locked = rows.select_related("example__dataset__project", "tools").select_for_update(of=("self",))
    return list(locked.order_by("pk")[:AT_ONCE])


def _bring(dataset: Dataset, revisions: Sequence[Revision]) -> Counter[str]:
    """Bring locked revisions to the wanted number; return how many places were added and closed."""
    overlap, done = Overlap.of(dataset.project), Counter[str]()
    places: dict[Any, list[LabelSlot]] = defaultdict(list)
    for slot in LabelSlot.objects.filter(revision__in=revisions).of_current_round().order_by("number"):
        places[slot.revision_id].append(slot)
    added: list[LabelSlot] = []
    for revision in revisions:
        slots = places[revision.pk]
        live = sum(slot.state != SlotState.CLOSED for slot in slots)
        missing = overlap.labels_for(revision.example.external_id, revision.round) - live
        if live and all(slot.state in (SlotState.SUBMITTED, SlotState.CLOSED) for slot in slots):
            # It has all its labels; they wait to be compared.
            continue
        if missing > 0:
            added += _lacking(dataset, revision, slots, missing)
        elif missing < 0 and (closed := _free_close(revision, -missing)):
            done["closed"] += closed
            revision_evaluate(revision)
    LabelSlot.objects.bulk_create([slot for slot in added if slot._state.adding])
    LabelSlot.objects.bulk_update(
        [slot for slot in added if not slot._state.adding], ["state", "reviewer", "lease_until", "priority", "turn"]
    )
    return done + Counter(added=len(added))


def _lacking(dataset: Dataset, revision: Revision, slots: Sequence[LabelSlot], missing: int) -> list[LabelSlot]:
    """Return the places that a revision lacks, unsaved: closed ones that are opened again, then new ones."""
    closed = [slot for slot in slots if slot.state == SlotState.CLOSED][:missing]
    first = max((slot.number for slot in slots), default=-1) + 1
    batch = slots[0].batch_id if slots else None
    new = [
        LabelSlot(dataset=dataset, revision=revision, round=revision.round, number=number, batch_id=batch)
        for number in range(first, first + missing - len(closed))
    ]
    for slot in (*closed, *new):
        slot.state, slot.reviewer, slot.lease_until = SlotState.OPEN, None, None
        slot.priority = revision.priority
        slot.turn = turn_of(dataset, revision.example.external_id, revision.disagreement)
    return [*closed, *new]


def _free_close(revision: Revision, count: int) -> int:
    """Close so many places that no one holds, those kept for someone last; return how many were."""
    free = LabelSlot.objects.filter(revision=revision, round=revision.round).free(database_now())
    spare = free.order_by(F("assignee").asc(nulls_first=True), "-number").values_list("pk", flat=True)[:count]
    chosen = LabelSlot.objects.filter(pk__in=list(spare)).free(database_now())
    return chosen.update(state=SlotState.CLOSED, lease_until=None, priority=None)
