"""The audit log of a project: sentences with names and links, filtered by person, act and thing."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.conf import settings
from django.test import Client
from django.urls import reverse

from labeling.adjudicate.services import adjudication_decide
from labeling.models import Dataset, Revision
from scripts.dev.environment import ROOT
from tests.labeling_pages.conftest import body
from tests.labeling_pages.shop import returned
from toolevals.workspace.audit.sentences import act_words
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.models import AuditEntry, User

pytestmark = pytest.mark.django_db
AUDIT = "/p/shop/audit/"


@pytest.fixture
def client(disagreed: Revision, owner: User, adjudicator: User, as_user: Callable[[User], Client]) -> Client:
    """The owner's browser, once an example is decided."""
    adjudication_decide(revision=disagreed, actor=adjudicator, expectation=returned(), rationale="She named the card.")
    return as_user(owner)


def lines(client: Client, query: str = "") -> list[str]:
    """Return the sentences of a page of the log."""
    response: Any = client.get(AUDIT + query)
    found = []
    for one in response.context["sentences"]:
        who = one.entry.actor.name if one.entry.actor else "The system"
        found.append(f"{who} {one.act} {one.thing}")
    return found


def test_an_act_is_a_sentence_with_a_link(client: Client, disagreed: Revision, adjudicator: User):
    name = disagreed.example.external_id
    assert f"{adjudicator.name} decided {name}" in lines(client)
    address = reverse("labeling:example", args=["shop", "core", disagreed.example_id])
    assert f'<a href="{address}">{name}</a>' in body(client.get(AUDIT))
    assert "The system created dataset Core" in lines(client)


def test_filters_find_by_person_act_and_thing(client: Client, disagreed: Revision, adjudicator: User, reviewer: User):
    name = disagreed.example.external_id
    assert lines(client, f"?person={adjudicator.pk}") == [f"{adjudicator.name} decided {name}"]
    assert lines(client, f"?person={reviewer.pk}&act=label submit") == [f"{reviewer.name} labelled {name}"]
    assert lines(client, "?thing=dataset&act=create") == ["The system created dataset Core"]
    one = AuditEntry.objects.get(verb="adjudication_decide")
    assert lines(client, f"?id={one.target_id}") == [f"{adjudicator.name} decided {name}"]
    for nothing in ("?person=x", "?id=x", "?act=burn", "?thing=house"):
        assert lines(client, nothing) == []
        assert "No act is like this." in body(client.get(AUDIT + nothing))
    sent: Any = client.get(f"/p/shop/audit.csv?person={adjudicator.pk}")
    rows = list(csv.DictReader(io.StringIO(b"".join(sent.streaming_content).decode())))
    assert [row["verb"] for row in rows] == ["adjudication_decide"]


def test_what_is_gone_is_still_told(client: Client, disagreed: Revision):
    gone = Dataset(pk=uuid4(), project=disagreed.example.dataset.project)
    audit_record(project=gone.project, actor=None, verb="dataset_create", target=gone, detail={"name": "Old"})
    assert "The system created dataset Old" in lines(client, "?act=dataset_create")


def test_the_tables_name_fields_that_there_are():
    for kind, thing in settings.AUDIT_THINGS.items():
        rows: Any = apps.get_model(kind)._default_manager
        assert list(rows.none().values_list(thing.title, *thing.fields)) == []
        assert not thing.to or reverse(thing.to, args=["shop", *_values(thing.fields)])


def _values(fields: tuple[str, ...]) -> list[Any]:
    return [AuditEntry().pk if field.endswith("pk") else 1 if field == "number" else "x" for field in fields]


def test_every_act_has_words():
    verbs = set()
    for room in ("labeling", "reports", "toolevals"):
        for path in (ROOT / room).rglob("*.py"):
            verbs |= set(re.findall(r'verb="(\w+)"', path.read_text("utf-8")))
    assert len(verbs) > 100
    wrong = re.compile(r"(yed|oed|awed|keed|opd|eed)\b")
    assert {verb: act_words(verb) for verb in verbs if wrong.search(act_words(verb)) and verb != "verb"} == {}
