from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import IntegrityError

from labeling.errors import InvalidAct
from labeling.label.claims import draft_save, skip_undo, slot_claim, slot_release, slot_renew, slot_skip
from labeling.models import Draft, LabelSlot, SlotState
from tests.labeling.rows import NO_CALL
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import AuditEntry


def lapse(slot: LabelSlot) -> None:
    """Let a claim run out."""
    LabelSlot.objects.filter(pk=slot.pk).update(lease_until=database_now() - timedelta(seconds=1))


def test_oldest_comes_first_and_stays_until_it_is_submitted(claim, dataset, examples, ann):
    slot = claim(ann)
    assert (slot.revision, slot.reviewer, slot.state) == (examples[0], ann, SlotState.CLAIMED)
    assert claim(ann) == slot


def test_claims_from_a_project_go_through_its_datasets(project, claim, dataset, examples, ann, ben):
    slot = slot_claim(dataset_or_project=project, actor=ann)
    assert slot is not None
    assert slot.revision == examples[0]
    assert claim(ben) != slot


def test_what_was_reopened_comes_first_and_what_has_a_label_does_not(claim, dataset, examples, members, submit):
    first, second = members(2)
    LabelSlot.objects.filter(revision=examples[2]).update(priority=1)
    assert submit(first, NO_CALL).revision == examples[2]
    LabelSlot.objects.filter(revision=examples[2]).update(priority=0)
    assert claim(second).revision == examples[0]


def test_nobody_gets_a_revision_twice_nor_more_than_are_wanted(claim, dataset, examples, members, submit):
    people = members(3)
    for user in people[:2]:
        for _ in examples:
            submit(user, NO_CALL)
        assert claim(user) is None
    assert claim(people[2]) is None
    pairs = LabelSlot.objects.values_list("revision", "reviewer")
    assert len(set(pairs)) == len(pairs) == 6


def test_overdue_claim_goes_to_the_next_person(claim, dataset, examples, members):
    ann, ben, cleo = members(3)
    mine = claim(ann)
    claim(ben)
    lapse(mine)
    taken = claim(cleo)
    assert (taken, taken.reviewer) == (mine, cleo)
    assert not slot_renew(slot=mine, actor=ann)
    assert claim(ann).revision == examples[1]


def test_overdue_claim_that_nobody_took_is_renewed(claim, dataset, examples, ann):
    slot = claim(ann)
    lapse(slot)
    again = claim(ann)
    assert again == slot
    assert again.lease_until > database_now()


def test_released_slot_is_open_and_the_draft_stays(claim, dataset, examples, ann, ben):
    slot = claim(ann)
    draft_save(revision=slot.revision, actor=ann, document={"tool": "get_order"})
    assert slot_release(slot=slot, actor=ann)
    assert not slot_release(slot=slot, actor=ann)
    slot.refresh_from_db()
    assert (slot.state, slot.reviewer) == (SlotState.OPEN, None)
    assert Draft.objects.get(user=ann).document == {"tool": "get_order"}


def test_nobody_releases_anothers_slot(claim, dataset, examples, ann, ben):
    slot = claim(ann)
    assert not slot_release(slot=slot, actor=ben)
    slot.refresh_from_db()
    assert slot.reviewer == ann


def test_draft_renews_the_lease(claim, dataset, examples, ann):
    slot = claim(ann)
    lapse(slot)
    draft_save(revision=slot.revision, actor=ann, document={"n": 1})
    draft_save(revision=slot.revision, actor=ann, document={"n": 2})
    slot.refresh_from_db()
    assert slot.lease_until > database_now()
    assert Draft.objects.get().document == {"n": 2}


def test_skipped_example_is_not_offered_again_until_that_is_undone(claim, dataset, examples, ann, ben):
    slot = claim(ann)
    skip = slot_skip(slot=slot, actor=ann, reason="  no idea ")
    assert skip.reason == "no idea"
    assert slot_skip(slot=slot, actor=ann) == skip
    assert claim(ann).revision == examples[1]
    assert claim(ben).revision == examples[0]
    again = skip_undo(skip=skip, actor=ann)
    assert again is not None
    assert again.revision == examples[0]


def test_undo_of_a_skip_finds_no_slot_when_others_have_them(claim, dataset, examples, members):
    ann, ben, cleo = members(3)
    skip = slot_skip(slot=claim(ann), actor=ann)
    for user in (ben, cleo):
        assert claim(user).revision == examples[0]
    assert skip_undo(skip=skip, actor=ann) is None


def test_nobody_undoes_anothers_skip_nor_skips_what_they_labelled(claim, dataset, examples, ann, ben, submit):
    skip = slot_skip(slot=claim(ann), actor=ann)
    with pytest.raises(InvalidAct):
        skip_undo(skip=skip, actor=ben)
    label = submit(ben, NO_CALL)
    with pytest.raises(InvalidAct):
        slot_skip(slot=label.slot, actor=ben)


def test_the_database_refuses_two_slots_of_a_revision_for_one_person(dataset, examples, ann):
    with pytest.raises(IntegrityError):
        LabelSlot.objects.filter(revision=examples[0]).update(reviewer=ann)


def test_each_act_leaves_one_audit_row(claim, dataset, examples, ann):
    before = AuditEntry.objects.count()
    slot = claim(ann)
    slot_release(slot=slot, actor=ann)
    entries = AuditEntry.objects.order_by("id")[before:]
    assert [(entry.verb, entry.actor) for entry in entries] == [("slot_claim", ann), ("slot_release", ann)]
