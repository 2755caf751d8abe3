"""A person who does not label in a project any more holds nothing in it; what they have labelled stays."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.exceptions import PermissionDenied
from django.db import connection

from labeling.batches.services import Choice, slots_assign
from labeling.label.claims import slot_claim
from labeling.label.services import label_submit
from labeling.models import Label, LabelSlot, SlotState
from tests.labeling.rows import NO_CALL
from toolevals.workspace.models import AuditEntry, Membership, Role
from toolevals.workspace.projects.services import member_remove, member_set

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("how", ["removed", "viewer"])
def test_claims_and_kept_places_are_free_at_once(project, dataset, examples, ann, ben, owner, submit, how):
    label = submit(ann, NO_CALL)
    held = slot_claim(dataset_or_project=dataset, actor=ann)
    assert held is not None
    slots_assign(dataset=dataset, actor=None, person=ann, choice=Choice(names=("ex-2",)))
    membership = Membership.objects.get(project=project, user=ann)
    if how == "removed":
        member_remove(membership=membership, actor=owner)
    else:
        member_set(project=project, actor=owner, user=ann, role=Role.VIEWER)
    held.refresh_from_db()
    assert (held.state, held.reviewer, held.lease_until) == (SlotState.OPEN, None, None)
    assert not LabelSlot.objects.filter(assignee=ann).exists()
    label.slot.refresh_from_db()
    assert (label.slot.state, Label.objects.filter(reviewer=ann).count()) == (SlotState.SUBMITTED, 1)
    entry = AuditEntry.objects.get(verb="slot_release")
    assert (entry.actor, entry.detail) == (owner, {"user": str(ann.pk)})
    with pytest.raises(PermissionDenied):
        slot_claim(dataset_or_project=dataset, actor=ann)
    with pytest.raises(PermissionDenied):
        label_submit(slot=held, actor=ann, expectation=NO_CALL)


def test_who_may_still_label_keeps_what_they_hold(project, dataset, examples, adjudicator):
    held = slot_claim(dataset_or_project=dataset, actor=adjudicator)
    assert held is not None
    member_set(project=project, actor=None, user=adjudicator, role=Role.REVIEWER)
    held.refresh_from_db()
    assert held.reviewer == adjudicator


@pytest.mark.django_db(transaction=True)
def test_a_claim_and_the_end_of_the_membership_at_once(project, dataset, examples, members):
    """Whichever comes first, nothing stays claimed by somebody who is gone."""
    for user in members(3):
        membership = Membership.objects.get(project=project, user=user)

        def claim(one=user) -> None:
            try:
                slot_claim(dataset_or_project=dataset, actor=one)
            except PermissionDenied:
                pass
            finally:
                connection.close()

        def remove(one=membership) -> None:
            try:
                member_remove(membership=one, actor=None)
            finally:
                connection.close()

        with ThreadPoolExecutor(2) as pool:
            for each in (pool.submit(claim), pool.submit(remove)):
                each.result()
        assert not LabelSlot.objects.filter(reviewer=user).exists()
