"""The database's clock decides about claims and about the time to change a label, not that of this machine."""

from __future__ import annotations

from datetime import timedelta

import pytest

from labeling.label.claims import slot_claim
from labeling.label.services import label_withdraw
from labeling.models import Resolution, Revision
from tests.fixtures.clocks import machine_clock_shift
from tests.labeling.rows import NO_CALL
from toolevals.workspace.jobs.sweeper import Sweeper
from toolevals.workspace.models import SweepTask

pytestmark = pytest.mark.django_db


def test_a_worker_ahead_leaves_the_time_to_take_a_label_back(dataset, examples, ann, ben, submit, monkeypatch):
    label = submit(ann, NO_CALL)
    submit(ben, NO_CALL, slot=_slot_of(label.revision, ben))
    settles_at = Revision.objects.get(pk=label.revision_id).settles_at
    assert settles_at is not None
    with monkeypatch.context() as patch:
        machine_clock_shift(patch, timedelta(minutes=20))
        Sweeper().round()
    # The duty was called, and found nothing due.
    assert SweepTask.objects.filter(name="labeling.adjudicate.resolution.settle_due").exclude(ran_at=None).exists()
    revision = Revision.objects.get(pk=label.revision_id)
    assert (revision.settles_at, revision.resolution) == (settles_at, Resolution.OPEN)
    label_withdraw(label=label, actor=ann)


def test_a_server_ahead_gives_no_claimed_example_away(dataset, examples, ann, ben, claim, monkeypatch):
    held = claim(ann)
    machine_clock_shift(monkeypatch, timedelta(minutes=40))
    given = claim(ben)
    assert given is None or given.pk != held.pk
    held.refresh_from_db()
    assert held.reviewer == ann


@pytest.mark.parametrize("minutes", [20, -20])
def test_a_server_that_differs_takes_a_label_back_in_time_and_not_later(
    dataset, examples, ann, submit, monkeypatch, minutes
):
    machine_clock_shift(monkeypatch, timedelta(minutes=minutes))
    label = submit(ann, NO_CALL)
    label_withdraw(label=label, actor=ann)
    label.refresh_from_db()
    assert label.withdrawn_at is not None


def _slot_of(revision: Revision, user):
    for _ in range(10):
        slot = slot_claim(dataset_or_project=revision.example.dataset, actor=user)
        if slot is not None and slot.revision_id == revision.pk:
            return slot
    raise AssertionError("the example was not offered")
