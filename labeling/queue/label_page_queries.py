"""Tell what is read with every example that someone labels: queries that are put together once in a process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Exists, F, Q, Subquery

from labeling.models import (
    CalibrationRound,
    Comment,
    Dataset,
    Draft,
    GuidelineVersion,
    KeyBindings,
    Label,
    LabelSlot,
    LookPlan,
    Revision,
    Skip,
    SlotState,
)
from toolevals.grading.values.canonical import parse
from toolevals.workspace.models import Project, User, within
from toolevals.workspace.querysets.lengths import Length
from toolevals.workspace.querysets.prepared import A_TEXT, PreparedQuery, an_id


class LabelFacts(NamedTuple):
    """The number of the guideline in force (0: none), and what the person has done with the revision.

    `is_first`: whether a label now is their first of the round. `skipped`: whether they have passed it on, and not
    taken that back.
    """

    guideline: int
    is_first: bool
    skipped: bool


class PageFacts(NamedTuple):
    """The state of a person's work on an example, draft and label, and the other facts that its page shows."""

    drafted: bool
    labelled: bool
    remarks: int
    answers: int
    # Whether a plan of second looks is at work in the project.
    planned: bool
    # The person's keys by the names of actions, where they are not the usual ones.
    keys: dict[str, str]


def slot_for_page(pk: UUID) -> LabelSlot:
    """Return a slot with what its page shows."""
    slot: LabelSlot = _SLOT.objects(slot=pk)[0]
    return _whole(slot)


def own_slot(project: Project, pk: UUID, user: User) -> LabelSlot | None:
    """Return this person's slot of the project with what its page shows, None where it is not theirs."""
    found = project_slot(project, pk)
    return found if found is not None and found.reviewer_id == user.pk else None


def project_slot(project: Project, pk: UUID) -> LabelSlot | None:
    """Return a slot of the project with what its page shows, whosever it is; None where there is none."""
    slot: LabelSlot | None = _PROJECT_SLOT.first(slot=pk, project=project.pk)
    return _whole(slot) if slot is not None else None


def own_counts(place: Dataset | Project, user: User) -> tuple[int, int]:
    """Return how many slots of a dataset or project this person works on, and in how many they have a label."""
    query = _COUNTS_OF_DATASET if isinstance(place, Dataset) else _COUNTS_OF_PROJECT
    counts = dict(query.rows(place=place.pk, user=user.pk))
    return counts.get(SlotState.CLAIMED, 0), counts.get(SlotState.SUBMITTED, 0)


def own_counts_of_both(dataset: Dataset, user: User) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return what `own_counts` does for a dataset, and for its project. One statement."""
    rows = _COUNTS_BY_DATASET.values(place=dataset.project_id, user=user.pk)
    return _held_and_done([row for row in rows if row[0] == dataset.pk]), _held_and_done(rows)


def locked_revision(pk: UUID) -> Revision:
    """Return a revision with its example, dataset, project and tools, its row locked to the end of the transaction."""
    revisions: list[Revision] = _LOCKED.objects(revision=pk)
    if not revisions:
        raise Revision.DoesNotExist
    return revisions[0]


def newest_label(slot: LabelSlot) -> Label | None:
    """Return the newest label of a slot, by whom it may be."""
    label: Label | None = _NEWEST_LABEL.first(slot=slot.pk)
    return label


def own_label(revision: Revision, user: User) -> Label | None:
    """Return the newest label that this person gave a revision, one taken back included."""
    label: Label | None = _OWN_LABEL.first(revision=revision.pk, user=user.pk)
    return label


def own_draft(revision: Revision, user: User) -> Draft | None:
    """Return what this person has entered for a revision and not handed in."""
    draft: Draft | None = _DRAFT.first(revision=revision.pk, user=user.pk)
    return draft


def label_facts(revision: Revision, user: User) -> LabelFacts:
    """Return what a label of a locked revision by this person depends on. One statement."""
    guideline, earlier, skipped = _FACTS.rows(revision=revision.pk, user=user.pk, dataset=revision.example.dataset_id)[
        0
    ]
    return LabelFacts(guideline or 0, not earlier, bool(skipped))


def count_skipped(revision: Revision) -> int:
    """Return how many people have passed a revision on and not taken that back."""
    return len(_SKIPS.rows(revision=revision.pk))


def states_of(revision: Revision) -> set[tuple[int, str]]:
    """Return the rounds and states of a revision's slots."""
    return {(number, state) for number, state in _STATES.rows(revision=revision.pk)}


def guideline_number(dataset: UUID) -> int:
    """Return the number of a dataset's guideline in force; 0 where there is none."""
    found = _GUIDELINE.rows(dataset=dataset)
    return int(found[0][0]) if found else 0


def page_facts(revision: Revision, user: User) -> PageFacts:
    """Return what the page of an example asks of a person: nothing is there of most, so that one statement tells it."""
    project = revision.example.dataset.project_id
    drafted, labelled, remarks, answers, planned, keys = _PAGE.rows(
        revision=revision.pk, user=user.pk, project=project
    )[0]
    return PageFacts(bool(drafted), bool(labelled), remarks, answers, bool(planned), parse(keys) if keys else {})


def count_answers(project: Project, user: User) -> int:
    """Return how many of this person's questions were answered, see `CommentQuerySet.answered_to`."""
    return len(_ANSWERS.rows(project=project.pk, user=user.pk))


def calibration_waiting(project: Project, user: User) -> CalibrationRound | None:
    """Return a round of a project of which this person has something to answer, with `size` and `own`."""
    calibration: CalibrationRound | None = _CALIBRATION.first(project=project.pk, user=user.pk)
    return calibration


def dataset_called(project: Project, slug: str) -> Dataset | None:
    """Return the project's dataset of this name in addresses."""
    dataset_row: Dataset | None = _DATASET.first(project=project.pk, slug=slug)
    if dataset_row is not None:
        dataset_row.project = project
    return dataset_row


def _held_and_done(rows: Iterable[Sequence[Any]]) -> tuple[int, int]:
    """Return how many slots are claimed, and how many have a label: of rows of a dataset, a state and a number."""
    counts: Counter[str] = Counter()
    for _, state, count in rows:
        counts[state] += count
    return counts[SlotState.CLAIMED], counts[SlotState.SUBMITTED]


def _whole(slot: LabelSlot) -> LabelSlot:
    slot.dataset = slot.revision.example.dataset
    return slot


def _slots(*places: Q, **conditions: Any) -> Any:
    rows = LabelSlot.objects.filter(*places, **conditions)
    return rows.select_related("revision__example__dataset__project", "revision__tools")


def _locked(revision: Any) -> Any:
    rows = Revision.objects.filter(pk=revision).select_for_update(of=("self",))
    return rows.select_related("example__dataset__project", "tools")


def _skips(**conditions: Any) -> Any:
    return Skip.objects.standing().filter(**conditions).values_list("reviewer").distinct()


def _facts(revision: Any, user: Any, dataset: Any) -> Any:
    earlier = Label.objects.filter(revision=revision, reviewer=user, slot__round=F("revision__round"))
    skips = Skip.objects.standing().filter(revision=revision, reviewer=user).order_by()
    place = Revision.objects.filter(pk=revision).order_by()
    return place.values_list(Subquery(_guideline(dataset)), Exists(earlier), Exists(skips))


def _page(revision: Any, user: Any, project: Any) -> Any:
    own = {"revision": revision, "reviewer": user}
    remarks = Comment.objects.filter(revision=revision, asker=user)
    answers = Comment.objects.in_project(project).answered_to(user)
    return (
        User.objects.filter(pk=user)
        .order_by()
        .values_list(
            Exists(Draft.objects.filter(revision=revision, user=user).order_by()),
            Exists(Label.objects.filter(**own).order_by()),
            *(Length(rows.order_by().values("pk")) for rows in (remarks, answers)),
            Exists(LookPlan.objects.filter(within(project, "dataset"), ended_at=None).order_by()),
            Subquery(KeyBindings.objects.filter(user=user).order_by().values("bindings")),
        )
    )


def _guideline(dataset: Any) -> Any:
    return GuidelineVersion.objects.filter(dataset=dataset).order_by("-number").values_list("number")[:1]


_ONE, _OTHER, _THIRD = (an_id(number) for number in range(3))
_REVISION, _PROJECT = {"revision": _ONE, "user": _OTHER}, {"project": _ONE, "user": _OTHER}

_SLOT = PreparedQuery(lambda slot: _slots(pk=slot), {"slot": _ONE})
_PROJECT_SLOT = PreparedQuery(
    lambda slot, project: _slots(within(project, "dataset"), pk=slot), {"slot": _ONE, "project": _THIRD}
)
_COUNTS_OF_DATASET, _COUNTS_OF_PROJECT = (
    PreparedQuery(build, {"place": _ONE, "user": _OTHER}, by_values=True)
    for build in (
        lambda place, user: LabelSlot.objects.of_dataset(place).counted_states(user),
        lambda place, user: LabelSlot.objects.in_project(place).counted_states(user),
    )
)
_COUNTS_BY_DATASET = PreparedQuery(
    lambda place, user: LabelSlot.objects.in_project(place).counted_states(user, "dataset"),
    {"place": _ONE, "user": _OTHER},
    by_values=True,
)
_LOCKED = PreparedQuery(_locked, {"revision": _ONE})
_NEWEST_LABEL = PreparedQuery(lambda slot: Label.objects.filter(slot=slot).order_by("-id")[:1], {"slot": _ONE})
_OWN_LABEL = PreparedQuery(
    lambda revision, user: Label.objects.filter(revision=revision, reviewer=user).order_by("-id")[:1], _REVISION
)
_DRAFT = PreparedQuery(lambda revision, user: Draft.objects.filter(revision=revision, user=user), _REVISION)
_SKIPS = PreparedQuery(lambda revision: _skips(revision=revision), {"revision": _ONE})
_STATES = PreparedQuery(
    lambda revision: LabelSlot.objects.filter(revision=revision).values_list("round", "state"), {"revision": _ONE}
)
_GUIDELINE = PreparedQuery(_guideline, {"dataset": _ONE})
_FACTS = PreparedQuery(_facts, {"revision": _ONE, "user": _OTHER, "dataset": _THIRD})
_PAGE = PreparedQuery(_page, {"revision": _ONE, "user": _OTHER, "project": _THIRD})
_ANSWERS = PreparedQuery(
    lambda project, user: Comment.objects.in_project(project).answered_to(user).values_list("pk"), _PROJECT
)
_CALIBRATION = PreparedQuery(
    lambda project, user: CalibrationRound.objects.in_project(project).waiting_for(user).with_progress(user)[:1],
    _PROJECT,
)
_DATASET = PreparedQuery(
    lambda project, slug: Dataset.objects.filter(project=project, slug=slug), {"project": _ONE, "slug": A_TEXT}
)
