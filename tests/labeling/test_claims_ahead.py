"""The next example, handed out while one is labelled: an ordinary claim, one and no more."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from labeling.datasets.services import dataset_create
from labeling.imports.services import examples_import
from labeling.label.claims import slot_claim, slot_leave, slot_release, slot_renew
from labeling.label.services import label_submit
from labeling.models import Dataset, LabelSlot, Revision, SlotState
from tests.labeling.rows import NO_CALL, row
from tests.labeling.test_claims import lapse
from toolevals.workspace.models import AuditEntry, Membership, Project, User
from toolevals.workspace.projects.services import member_remove


def lease_end(slot: LabelSlot) -> datetime:
    """Return when a claim ends, as it is stored."""
    until = LabelSlot.objects.get(pk=slot.pk).lease_until
    assert until is not None
    return until


@pytest.fixture
def ahead(dataset: Dataset) -> Any:
    """Return a function with which a person at work on a slot is handed the next one."""
    return lambda user, slot: slot_claim(dataset_or_project=dataset, actor=user, beside=slot)


def test_the_next_is_held_like_any_other_and_comes_first_afterwards(claim, ahead, dataset, examples, ann):
    slot = claim(ann)
    following = ahead(ann, slot)
    assert (following.revision, following.reviewer, following.state) == (examples[1], ann, SlotState.CLAIMED)
    assert following.lease_until >= slot.lease_until
    assert AuditEntry.objects.filter(verb="slot_claim", actor=ann).count() == 2
    # At work on the first still, also where the page is opened anew.
    assert claim(ann) == slot
    label_submit(slot=slot, actor=ann, expectation=NO_CALL)
    assert claim(ann) == following


def test_it_is_one_however_often_it_is_asked_for(claim, ahead, dataset, examples, ann):
    slot = claim(ann)
    assert ahead(ann, slot) == ahead(ann, slot)
    assert LabelSlot.objects.held_by(ann).count() == 2
    assert AuditEntry.objects.filter(verb="slot_claim", actor=ann).count() == 2


def test_who_holds_nothing_is_handed_nothing_ahead(claim, ahead, dataset, examples, ann, ben):
    slot = claim(ann)
    assert ahead(ben, slot) is None
    label_submit(slot=slot, actor=ann, expectation=NO_CALL)
    assert ahead(ann, slot) is None
    assert LabelSlot.objects.filter(state=SlotState.CLAIMED).count() == 0


def test_who_holds_another_elsewhere_is_handed_no_third(project: Project, claim, ahead, dataset, examples, ann):
    other = dataset_create(project=project, actor=None, slug="other", name="Other", default_tools=dataset.default_tools)
    examples_import(dataset=other, actor=None, rows=[row("elsewhere")])
    slot = claim(ann)
    assert slot_claim(dataset_or_project=other, actor=ann) is not None
    assert ahead(ann, slot) is None
    assert LabelSlot.objects.held_by(ann).count() == 2


def test_what_is_held_ahead_is_no_place_for_others_until_it_ends(claim, ahead, dataset, examples, members):
    ann, ben, cleo = members(3)
    following = ahead(ann, claim(ann))
    assert ahead(ben, claim(ben)).revision == following.revision
    # Both places of the first two examples are held, one of them ahead of time.
    assert claim(cleo).revision == examples[2]
    lapse(following)
    assert not slot_renew(slot=following, actor=ben)
    dave = members(1)[0]
    assert claim(dave) == following


def test_leaving_ends_it_soon_and_giving_back_at_once(claim, ahead, dataset, examples, ann):
    slot = claim(ann)
    following = ahead(ann, slot)
    until = lease_end(following)
    slot_leave(slot=following, actor=ann)
    assert lease_end(following) < until
    slot_release(slot=following, actor=ann)
    assert LabelSlot.objects.get(pk=following.pk).state == SlotState.OPEN


def test_a_member_who_leaves_holds_nothing_ahead(project: Project, claim, ahead, dataset, examples, ann):
    ahead(ann, claim(ann))
    member_remove(membership=Membership.objects.get(project=project, user=ann), actor=None)
    assert not LabelSlot.objects.filter(reviewer=ann).exists()


@pytest.mark.parametrize("is_labelled", [True, False])
def test_what_is_offered_does_not_tell_that_another_has_labelled(
    is_labelled: bool, claim, ahead, submit, dataset, examples: list[Revision], members
):
    """A third person is handed the same examples in the same order, whether the first has labelled or only looked."""
    first, third = members(2)
    if is_labelled:
        submit(first, NO_CALL)
        submit(first, NO_CALL)
    else:
        ahead(first, claim(first))
    offered = []
    slot = claim(third)
    while slot is not None:
        following = ahead(third, slot)
        offered.append((slot.revision, following.revision if following else None))
        label_submit(slot=slot, actor=third, expectation=NO_CALL)
        slot = claim(third)
    assert offered == [(examples[0], examples[1]), (examples[1], examples[2]), (examples[2], None)]


def test_pages_hold_it_on_leave_it_and_give_it_back(client, project: Project, claim, dataset, examples, ann: User):
    client.force_login(ann)
    slot = claim(ann)
    url = f"/p/{project.slug}/label/{slot.pk}"
    taken = client.post(
        f"{url}/ahead/", {"scope": dataset.slug}, headers={"HX-Request": "true", "X-Submission": "a" * 32}
    )
    following = LabelSlot.objects.held_by(ann).exclude(pk=slot.pk).get()
    assert taken.status_code == 200
    assert taken["X-Accepted"] == "a" * 32
    assert taken["HX-Push-Url"] == f"/p/{project.slug}/label/{following.pk}/?dataset={dataset.slug}"
    assert f'data-slot="{following.pk}"'.encode() in taken.content
    sent = {"ahead": str(following.pk)}
    lapse(following)
    assert client.post(f"{url}/renew/", sent).json()["ahead"] is True
    assert client.post(f"{url}/renew/", {"ahead": "x"}).json()["ahead"] is False
    until = lease_end(following)
    client.post(f"{url}/leave/", sent)
    assert lease_end(following) < until
    client.post(f"{url}/release/", sent)
    assert LabelSlot.objects.held_by(ann).count() == 0
    assert client.post(f"{url}/ahead/").status_code == 204
