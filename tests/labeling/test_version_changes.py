"""Test what changed between two frozen versions: counts, lists, CSV, REST, the page."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from labeling.adjudicate.services import adjudication_decide, dispute_open
from labeling.datasets.services import example_decide_by
from labeling.imports.services import examples_import
from labeling.models import Dataset, Example, Revision
from labeling.versions.changes import VersionDiff
from labeling.versions.services import version_freeze
from tests.labeling.rows import NO_CALL, SHOP_TOOLS, call, document, row
from tests.labeling.test_api import Program
from toolevals.grading.reading.examples import read_example
from toolevals.registry.services import registry_publish
from toolevals.workspace.models import Role, User

pytestmark = pytest.mark.django_db


def decide(name: str, adjudicator: User, expectation: dict[str, Any]) -> None:
    revision = Revision.objects.get(example__external_id=name)
    dispute_open(revision=revision, actor=None, reason="A doubt")
    adjudication_decide(revision=revision, actor=adjudicator, expectation=expectation, rationale="Seen again.")


@pytest.fixture
def diff(dataset: Dataset, adjudicator: User) -> VersionDiff:
    """Two versions that differ in every way but one: nothing is gone, which the other direction shows."""
    names = ("same", "input", "tools", "gold", "decided", "decided_by")
    examples_import(dataset=dataset, actor=None, rows=[row(name, expectation=call()) for name in names])
    before = version_freeze(dataset=dataset, actor=None)
    other = document("input", expectation=call())
    other["input"]["messages"][0]["content"] = "Where is my order input?"
    changed = [{**SHOP_TOOLS[0], "description": "Look up one order."}, SHOP_TOOLS[1]]
    assert dataset.default_tools is not None
    registry = dataset.default_tools.registry
    registry_publish(registry=registry, actor=None, document=changed)
    tools = document("tools", expectation=call(), tools="shop@2")
    rows = [read_example(one) for one in (other, tools, document("added", expectation=NO_CALL))]
    examples_import(dataset=dataset, actor=None, rows=rows)
    decide("gold", adjudicator, call("cancel_order"))
    decide("decided", adjudicator, call())
    other_way = Example.objects.get(external_id="decided_by")
    example_decide_by(example=other_way, actor=adjudicator, decided_by="answer")
    return VersionDiff(before, version_freeze(dataset=dataset, actor=None))


@pytest.mark.database
def test_every_kind_is_counted_and_listed(diff: VersionDiff, adjudicator: User):
    assert diff.counts() == {"added": 1, "removed": 0, "input": 1, "tools": 1, "gold": 1, "decided": 1, "decided_by": 1}
    for kind in ("added", "input", "tools", "gold", "decided", "decided_by"):
        (change,), following = diff.page(kind, 0, user=adjudicator, role=Role.ADJUDICATOR)
        assert (change.entry.revision.example.external_id, change.kinds, following) == (kind, (kind,), None)
    back = VersionDiff(diff.after, diff.before)
    assert (back.counts()["added"], back.counts()["removed"]) == (0, 1)
    same = VersionDiff(diff.after, diff.after)
    assert same.counts() == dict.fromkeys(diff.counts(), 0)
    assert all(before == after for values in same.strata().values() for _, before, after in values)


def test_parts_of_gold_and_input_are_told_apart(diff: VersionDiff, adjudicator: User):
    (gold,), _ = diff.page("gold", 0, user=adjudicator, role=Role.ADJUDICATOR)
    assert gold.decider == adjudicator.name
    assert gold.parts
    (shown,), _ = diff.page("input", 0, user=adjudicator, role=Role.ADJUDICATOR)
    assert [one.title for one in shown.inputs] == ["message 1, user"]
    assert [piece.text for piece in shown.inputs[0].pieces if piece.kind == "added"] == [" my"]


def test_lists_of_tools_are_named_by_their_registry_version(diff: VersionDiff):
    (change,), more = diff.lists()
    assert (change.before, change.after, change.examples, more) == ("shop@1", "shop@2", 1, 0)
    assert [(tool.name, tool.kind) for tool in change.tools] == [("get_order", "changed")]


@pytest.mark.database
def test_strata_are_counted_before_and_after(diff: VersionDiff):
    assert diff.strata() == {}
    Example.objects.filter(external_id__in=["same", "added"]).update(bucket="selection")
    assert diff.strata() == {"bucket": [("", 5, 5), ("selection", 1, 2)]}


def test_the_csv_has_stable_ids_of_every_change(diff: VersionDiff):
    lines = list(diff.lines(""))
    assert sorted(str(line[0]) for line in lines) == ["added", "decided", "decided_by", "gold", "input", "tools"]
    (gold,) = diff.lines("gold")
    (other_way,) = diff.lines("decided_by")
    assert other_way[-2:] == ("expected", "answer")
    assert (gold[2:5], gold[7:10]) == (("gold", 1, 1), ("get_order", "cancel_order", "adjudicated"))
    assert gold[1] == Example.objects.get(external_id="gold").pk
    assert [line[0] for line in VersionDiff(diff.after, diff.before).lines("")].count("removed") == 1


def test_pages_and_programs_read_it(diff: VersionDiff, reviewer: User):
    address = reverse("labeling:version-changes", args=["shop", "support", 2])
    client = Client()
    client.force_login(reviewer)
    page = client.get(address, {"kind": "gold"}).content.decode()
    assert "Version 1 to 2" in page
    assert "cancel_order" in page
    assert "shop@1 to shop@2" in page
    first = client.get(reverse("labeling:version-changes", args=["shop", "support", 1])).content.decode()
    assert "Choose two different versions" in first
    assert client.get(address, {"since": "9"}).status_code == 404
    csv = b"".join(client.get(reverse("labeling:version-changes-csv", args=["shop", "support", 2])))
    assert csv.count(b"\r\n") == 7
    example = Example.objects.get(external_id="gold").pk
    frozen = client.get(reverse("labeling:example", args=["shop", "support", example]), {"version": "1"})
    assert "as version 1 froze them" in frozen.content.decode()
    shown = Program(reviewer).get("datasets/support/versions/2/changes/?kind=gold")
    assert (shown["before"], shown["counts"]["gold"], shown["next"]) == ("support@1", 1, None)
    assert shown["results"][0]["expected_after"] == call("cancel_order")
    Program(reviewer).get("datasets/support/versions/2/changes/?kind=other", 404)


def test_a_long_list_comes_in_pages_by_as_many_queries(diff: VersionDiff, dataset: Dataset, reviewer: User):
    client = Client()
    client.force_login(reviewer)

    def queries(number: int) -> int:
        with CaptureQueriesContext(connection) as found:
            assert client.get(reverse("labeling:version-changes", args=["shop", "support", number])).status_code == 200
        return len(found)

    queries(2)
    few = queries(2)
    rows = [row(f"more-{n:02}", expectation=NO_CALL) for n in range(30)]
    examples_import(dataset=dataset, actor=None, rows=rows)
    longer = VersionDiff(diff.before, version_freeze(dataset=dataset, actor=None))
    first, following = longer.page("added", 0, user=reviewer, role=Role.REVIEWER)
    assert following is not None
    rest, end = longer.page("added", following, user=reviewer, role=Role.REVIEWER)
    assert (len(first), len(rest), end) == (25, 6, None)
    assert queries(3) <= few <= 26
