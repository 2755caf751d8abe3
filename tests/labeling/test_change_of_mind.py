"""A change of mind within its time: what was said first counts, and makes gold by itself alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from labeling.adjudicate.label_columns import sides_for
from labeling.adjudicate.resolution import revision_settle, settle_due
from labeling.adjudicate.services import adjudication_decide
from labeling.agreement.cache import labels_read
from labeling.agreement.cases import units_of
from labeling.agreement.filters import Filters
from labeling.blindness import sides_of
from labeling.datasheet.gathering import Scope, tool_agreement
from labeling.errors import InvalidAct
from labeling.imports.services import examples_import
from labeling.label.services import label_submit, label_withdraw
from labeling.models import Dataset, Example, Gold, GoldSource, Label, LabelSlot, Resolution, Revision
from tests.labeling.changing_minds import clock, say, slow
from tests.labeling.rows import NO_CALL, call, row
from tests.labeling.windows import later
from toolevals.workspace.models import Role, User

__all__ = ["clock", "slow"]

pytestmark = pytest.mark.django_db
API = "/api/v1/projects/shop/"


@pytest.mark.parametrize("undo", [False, True])
@pytest.mark.parametrize("comes_first", ["ann", "ben"])
@pytest.mark.parametrize(
    ("anns", "bens", "outcome"),
    [
        ([call()], call(), Resolution.RESOLVED),
        ([call()], NO_CALL, Resolution.DISAGREED),
        ([call(), NO_CALL], NO_CALL, Resolution.DISAGREED),
        ([call(), NO_CALL], call(), Resolution.DISAGREED),
        ([call(), NO_CALL, call()], call(), Resolution.RESOLVED),
    ],
)
def test_only_what_was_said_first_makes_gold_by_itself(
    dataset, examples, ann, ben, anns, bens, outcome, comes_first, undo
):
    turns = [(ann, anns), (ben, [bens])]
    for user, said in turns if comes_first == "ann" else reversed(turns):
        say(dataset, user, *said, undo=undo)
    assert settle_due() == 0
    examples[0].refresh_from_db()
    assert examples[0].resolution == Resolution.OPEN
    settle_due(later())
    examples[0].refresh_from_db()
    assert (examples[0].resolution, Gold.objects.count()) == (outcome, int(outcome == Resolution.RESOLVED))


def test_a_label_that_stands_alone_is_changed_freely(project, dataset, ann):
    project.labels_wanted = 1
    project.save()
    dataset.project = project
    examples_import(dataset=dataset, actor=None, rows=[row("alone")])
    changed = say(dataset, ann, call(), NO_CALL)
    settle_due(later())
    gold = Gold.objects.get()
    assert (gold.source, gold.expectation) == (GoldSource.SINGLE, changed.expectation)


def test_a_label_changes_within_the_undo_time_alone(dataset, examples, ann, clock):
    label = say(dataset, ann, call())
    clock(3601)
    with pytest.raises(InvalidAct, match="time to change"):
        label_submit(slot=label.slot, actor=ann, expectation=NO_CALL)
    assert label_submit(slot=label.slot, actor=ann, expectation=label.expectation) == label
    with pytest.raises(InvalidAct, match="time to take"):
        label_withdraw(label=label, actor=ann)


def test_a_change_in_the_last_moment_moves_the_end(dataset, examples, ann, ben, clock):
    label = say(dataset, ann, call())
    say(dataset, ben, call())
    clock(3600)
    label_submit(slot=label.slot, actor=ann, expectation=NO_CALL)
    clock(1)
    # The sweeper had seen it as due a moment before.
    assert not revision_settle(revision=examples[0])
    examples[0].refresh_from_db()
    assert examples[0].resolution == Resolution.OPEN
    clock(3600)
    settle_due()
    examples[0].refresh_from_db()
    assert examples[0].resolution == Resolution.DISAGREED


@pytest.fixture
def changed(dataset: Dataset, examples: list[Revision], ann: User, ben: User) -> Revision:
    """Ann changes what she said to what Ben says."""
    say(dataset, ann, call(order="ann-first"), NO_CALL)
    say(dataset, ben, NO_CALL)
    settle_due(later())
    examples[0].refresh_from_db()
    return examples[0]


def test_the_adjudicator_sees_what_was_said_first(changed: Revision, adjudicator: User, ann: User):
    sides = sides_of(changed, adjudicator, Role.ADJUDICATOR)
    firsts = [side.first.expectation for side in sides if side.first is not None]
    assert firsts == [Label.objects.get(reviewer=ann, is_first=True).expectation]
    columns = sides_for(changed, adjudicator, Role.ADJUDICATOR, parameters={})
    assert columns is not None
    assert [(column.count, column.notes) for column in columns.columns] == [
        (2, ("1 of 2 changed after first submitting",)),
        (0, ("first submitted, then changed",)),
    ]
    client = Client()
    client.force_login(adjudicator)
    page = client.get(reverse("labeling:adjudicate-revision", args=["shop", changed.pk])).content.decode()
    assert "1 of 2 changed after first submitting" in page
    assert "ann-first" in page
    assert ann.name not in page
    answer = client.get(f"{API}adjudications/{changed.pk}/").json()
    assert [bool(side["first"]) for side in answer["sides"]].count(True) == 1
    assert all("seconds" not in side for side in answer["sides"])


def test_agreement_counts_what_was_said_first(changed: Revision, dataset: Dataset, adjudicator: User):
    adjudication_decide(revision=changed, actor=adjudicator, expectation=NO_CALL, rationale="So.")
    labels_read(dataset)
    (unit,) = units_of(dataset, Filters())
    assert not unit.has_same_tool
    assert tool_agreement(Scope(dataset), units=1).percent.value == 0
    assert Example.objects.get(pk=changed.example_id).current_id == changed.pk


def test_who_takes_a_label_back_for_good_is_not_counted(dataset, examples, ann, ben, members, adjudicator):
    (cleo,) = members(1)
    label = say(dataset, ann, call())
    say(dataset, ben, NO_CALL)
    label_withdraw(label=label, actor=ann)
    LabelSlot.objects.filter(reviewer=ann).update(state="open", reviewer=None, lease_until=None)
    say(dataset, cleo, NO_CALL)
    assert settle_due(later()) == 1
    labels_read(dataset)
    (unit,) = units_of(dataset, Filters())
    assert {each.reviewer for each in unit.labels} == {ben.pk, cleo.pk}


@pytest.mark.django_db(transaction=True)
def test_a_change_and_the_end_of_the_time_at_once(dataset, examples, ann, ben):
    """Whichever comes first, a changed label makes no gold, and what became gold is not changed."""
    end = later()
    for revision in examples:
        label = say(dataset, ann, call())
        say(dataset, ben, call())

        def change(label: Label = label) -> bool:
            try:
                label_submit(slot=label.slot, actor=ann, expectation=NO_CALL)
            except InvalidAct:
                return False
            else:
                return True
            finally:
                connection.close()

        def settle(at: datetime = end, one: Revision = revision) -> bool:
            try:
                return revision_settle(revision=one, now=at)
            finally:
                connection.close()

        with ThreadPoolExecutor(2) as pool:
            outcomes = pool.submit(change), pool.submit(settle)
            was_changed, was_settled = (each.result() for each in outcomes)
        assert was_changed != was_settled
        revision.refresh_from_db()
        assert revision.resolution == (Resolution.RESOLVED if was_settled else Resolution.DISAGREED)
