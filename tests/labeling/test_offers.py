"""The place at which an example is offered tells nothing about labels that others have given it."""

from __future__ import annotations

from random import Random

import pytest
from django.db import transaction

from labeling.batches.ordering import order_set, turns_write
from labeling.batches.overlap import labelling_set
from labeling.imports.services import examples_import
from labeling.label.claims import slot_claim, slot_release
from labeling.label.services import label_submit
from labeling.models import Dataset, LabelSlot, QueueOrder, Revision
from tests.labeling.rows import NO_CALL, row
from toolevals.workspace.models import User

pytestmark = pytest.mark.django_db
MANY = 10
WORLDS = 6


@pytest.fixture
def many(dataset: Dataset) -> list[Revision]:
    """Examples of two strata."""
    rows = [row(f"ex-{n}", strata={"bucket": "selection" if n % 3 else "no_call"}) for n in range(MANY)]
    examples_import(dataset=dataset, actor=None, rows=rows)
    return list(Revision.objects.filter(example__dataset=dataset).order_by("id"))


def offered(dataset: Dataset, user: User) -> list[str]:
    """Return what a person is offered, one after the other, until nothing is left for them."""
    names = []
    while (slot := slot_claim(dataset_or_project=dataset, actor=user)) is not None:
        names.append(slot.revision.example.external_id)
        label_submit(slot=slot, actor=user, expectation=NO_CALL)
    return names


@pytest.mark.parametrize("order", QueueOrder.values)
def test_the_order_of_offers_is_the_same_whatever_others_have_labelled(dataset, many, ann, ben, members, order):
    """A free place is what an example is offered for; whether its other place holds a label moves it nowhere."""
    (cleo,) = members(1)
    order_set(dataset=dataset, actor=None, order=order, seed=7)
    random, told = Random(11), []
    for world in range(WORLDS):
        # Of some examples one label of another is in; in the first world of none. Some are claimed, one was given back.
        chosen = random.sample(many, k=random.randrange(1, MANY)) if world else []
        with transaction.atomic():
            for place, revision in enumerate(chosen):
                slot = revision.slots.order_by("number")[place % 2]
                LabelSlot.objects.filter(pk=slot.pk).update(reviewer=ben, state="claimed")
                if place % 4 != 3:
                    label_submit(slot=LabelSlot.objects.get(pk=slot.pk), actor=ben, expectation=NO_CALL)
            if world and (claimed := slot_claim(dataset_or_project=dataset, actor=cleo)) is not None:
                slot_release(slot=claimed, actor=cleo)
            dataset.refresh_from_db()
            # As the sweeper does: what is labelled must not move by that either.
            turns_write(dataset)
            told.append(offered(dataset, ann))
            transaction.set_rollback(True)
    assert len(told[0]) == MANY
    assert all(world == told[0] for world in told)


def test_added_places_stand_where_their_example_does(project, dataset, many, ann, ben, run_jobs):
    """An example with a label is not offered later than one without, where more labels are wanted meanwhile."""
    slot = slot_claim(dataset_or_project=dataset, actor=ben)
    assert slot is not None
    label_submit(slot=slot, actor=ben, expectation=NO_CALL)
    labelling_set(
        project=project,
        actor=None,
        labels_wanted=3,
        labels_share=1.0,
        undo_seconds=3600,
        decide_own=False,
        suggestions=False,
    )
    run_jobs()
    # The first two places of the first example are taken: only the one that was added is left.
    LabelSlot.objects.filter(revision=many[0], state="open", number=1).update(state="closed", priority=None)
    assert offered(dataset, ann) == [f"ex-{n}" for n in range(MANY)]


def test_two_people_complete_the_same_examples_first(dataset, many, ann, ben):
    """The order that says nothing still completes pairs: who comes second follows who came first."""
    for user, count in ((ann, 4), (ben, 4)):
        for _ in range(count):
            slot = slot_claim(dataset_or_project=dataset, actor=user)
            assert slot is not None
            label_submit(slot=slot, actor=user, expectation=NO_CALL)
    assert [revision.labels.count() for revision in many] == [2] * 4 + [0] * (MANY - 4)
