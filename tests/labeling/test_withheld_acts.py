"""The audit log keeps who labelled an example, and when, until it is decided."""

from __future__ import annotations

import pytest
from django.test import Client

from labeling.adjudicate.services import adjudication_decide
from labeling.questions.services import comment_add
from tests.labeling.rows import NO_CALL, call
from toolevals.workspace.models import AuditEntry, Role

pytestmark = pytest.mark.django_db


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
