"""Tell what is read with every example that someone labels: a few small reads, each by an index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Q

from labeling.label.querysets import SlotQuerySet
from labeling.models import (
    CalibrationRound,
    Comment,
    Dataset,
    Draft,
    GuidelineVersion,
    Label,
    LabelSlot,
    Revision,
    Skip,
    SlotState,
)
from toolevals.workspace.models import Project, User, within


def slot_for_page(project: Project, pk: UUID) -> LabelSlot:
    """Return a slot of the project with what its page shows."""
    return _whole(_slots(pk=pk).get(), project)


def own_slot(project: Project, pk: UUID, user: User) -> LabelSlot | None:
    """Return this person's slot of the project with what its page shows, None where it is not theirs."""
    found = project_slot(project, pk)
    return found if found is not None and found.reviewer_id == user.pk else None


def project_slot(project: Project, pk: UUID) -> LabelSlot | None:
    """Return a slot of the project with what its page shows, whosever it is; None where there is none."""
    try:
        return _whole(_slots(within(project, "revision__example__dataset"), pk=pk).get(), project)
    except LabelSlot.DoesNotExist:
        return None


def own_counts(place: Dataset | Project, user: User) -> tuple[int, int]:
    """Return how many slots of a dataset or project this person works on, and in how many they have a label."""
    return _held_and_done(LabelSlot.objects.in_scope(place).counted_states(user, "dataset"))


def own_counts_of_both(dataset: Dataset, user: User) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return what `own_counts` does for a dataset, and for its project. One statement."""
    rows = list(LabelSlot.objects.in_project(dataset.project).counted_states(user, "dataset"))
    return _held_and_done([row for row in rows if row[0] == dataset.pk]), _held_and_done(rows)


def locked_revision(pk: UUID) -> Revision:
    """Return a revision with its example, dataset, project and tools, its row locked to the end of the transaction."""
    rows = Revision.objects.select_for_update(of=("self",))
    return rows.select_related("example__dataset__project", "tools").get(pk=pk)


def locked_again(revision: Revision) -> Revision:
    """Return a revision as it is now, locked to the end of the transaction; its example is what was read before."""
    locked = Revision.objects.select_for_update().defer("input").get(pk=revision.pk)
    locked.example = revision.example
    return locked


def newest_label(slot: LabelSlot) -> Label | None:
    """Return the newest label of a slot, by whom it may be."""
    return Label.objects.filter(slot=slot).order_by("-id").first()


def own_label(revision: Revision, user: User) -> Label | None:
    """Return the newest label that this person gave a revision, one taken back included."""
    return Label.objects.filter(revision=revision, reviewer=user).order_by("-id").first()


def own_draft(revision: Revision, user: User) -> Draft | None:
    """Return what this person has entered for a revision and not handed in."""
    return Draft.objects.filter(revision=revision, user=user).first()


def count_skipped(revision: Revision) -> int:
    """Return how many people have passed a revision on and not taken that back."""
    return Skip.objects.standing().filter(revision=revision).values("reviewer").distinct().count()


def states_of(revision: Revision) -> set[tuple[int, str]]:
    """Return the rounds and states of a revision's slots."""
    return set(LabelSlot.objects.filter(revision=revision).values_list("round", "state"))


def guideline_number(dataset: UUID) -> int:
    """Return the number of a dataset's guideline in force; 0 where there is none."""
    numbers = GuidelineVersion.objects.filter(dataset=dataset).order_by("-number").values_list("number", flat=True)
    return numbers.first() or 0


def count_answers(project: Project, user: User) -> int:
    """Return how many of this person's questions were answered, see `CommentQuerySet.answered_to`."""
    return Comment.objects.in_project(project).answered_to(user).count()


def calibration_waiting(project: Project, user: User) -> CalibrationRound | None:
    """Return a round of a project of which this person has something to answer, with `size` and `own`."""
    rounds = CalibrationRound.objects.in_project(project)
    # Mostly there is none, and that is quickly asked.
    if not rounds.open().exists():
        return None
    return rounds.waiting_for(user).with_progress(user).first()


def dataset_called(project: Project, slug: str) -> Dataset | None:
    """Return the project's dataset of this name in addresses."""
    dataset_row = Dataset.objects.filter(project=project, slug=slug).first()
    if dataset_row is not None:
        dataset_row.project = project
    return dataset_row


def _held_and_done(rows: Iterable[Sequence[Any]]) -> tuple[int, int]:
    """Return how many slots are claimed, and how many have a label: of rows of a dataset, a state and a number."""
    counts: Counter[str] = Counter()
    for _, state, count in rows:
        counts[state] += count
    return counts[SlotState.CLAIMED], counts[SlotState.SUBMITTED]


def _whole(slot: LabelSlot, project: Project) -> LabelSlot:
    slot.dataset = slot.revision.example.dataset
    slot.dataset.project = project
    return slot


def _slots(*places: Q, **conditions: Any) -> SlotQuerySet:
    rows = LabelSlot.objects.filter(*places, **conditions)
    return rows.select_related("revision__example__dataset", "revision__tools")
