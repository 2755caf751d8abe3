"""The audit log keeps who labelled an example, and when, until it is decided; and rows of earlier versions move."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps
from django.test import Client

from labeling.models import Label, LabelSlot, Resolution, Revision
from labeling.services import adjudication_decide, comment_add, label_submit, slot_claim
from tests.labeling.rows import NO_CALL, call
from toolevals.workspace.models import AuditEntry, Role

pytestmark = pytest.mark.django_db
MOVES = "labeling.migrations.0005_labels_wait_to_be_compared"


def test_acts_about_an_example_are_told_once_it_is_decided(
    project, dataset, examples, ann, ben, owner, adjudicator, members, submit
):
    (chief,) = members(1, Role.OWNER)
    comment_add(revision=examples[0], asker=ann, actor=ann, text="Which?")
    submit(ann, call())
    submit(ben, NO_CALL)
    own = submit(chief, NO_CALL)
    shown = {user: AuditEntry.objects.shown_to(user, project) for user in (owner, chief)}
    about = {"slot_claim", "label_submit", "comment_add"}
    assert not shown[owner].filter(verb__in=about).exists()
    assert [entry.target_id for entry in shown[chief].filter(verb="label_submit")] == [own.pk]
    client = Client()
    client.force_login(owner)
    paths = ("/p/shop/audit/", "/p/shop/audit.csv", "/api/v1/projects/shop/audit/")
    for path in paths:
        response = client.get(path)
        text = (b"".join(response) if response.streaming else response.content).decode()
        assert (response.status_code, "member_set" in text, "label_submit" in text) == (200, True, False), path
    adjudication_decide(revision=examples[0], actor=adjudicator, expectation=NO_CALL, rationale="So.")
    assert set(shown[owner].filter(verb__in=about).values_list("verb", flat=True)) == about
    assert shown[owner].filter(verb="label_submit").count() == 2


def test_labels_and_queues_of_earlier_versions_move(dataset, examples, ann, ben):
    slot = slot_claim(dataset_or_project=dataset, actor=ann)
    assert slot is not None
    first, changed = (label_submit(slot=slot, actor=ann, expectation=said) for said in (call(), NO_CALL))
    other = slot_claim(dataset_or_project=dataset, actor=ben)
    assert other is not None
    hers = label_submit(slot=other, actor=ben, expectation=NO_CALL)
    Label.objects.update(is_first=True)
    LabelSlot.objects.filter(revision=examples[1]).update(priority=1)
    LabelSlot.objects.filter(revision=examples[2]).update(priority=1, round=2)
    Revision.objects.filter(pk=examples[0].pk).update(resolution="agreed")
    moves = import_module(MOVES)
    for move in (moves.labels_number, moves.queue_order, moves.agreements_wait):
        move(apps, None)
    assert set(Label.objects.filter(is_first=True)) == {first, hers}
    assert set(Label.objects.filter(is_first=False)) == {changed}
    assert set(LabelSlot.objects.filter(priority=1).values_list("revision", flat=True)) == {examples[2].pk}
    examples[0].refresh_from_db()
    assert examples[0].resolution == Resolution.OPEN
    assert examples[0].settles_at is not None
