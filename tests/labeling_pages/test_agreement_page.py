"""The pages of agreement: figures, matrix, cases and files say the same; who is told about whom."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from labeling.adjudicate.services import adjudication_decide
from labeling.agreement.cache import labels_read, pairs_tallied
from labeling.imports.services import examples_import
from labeling.label.claims import slot_claim
from labeling.label.services import label_submit
from labeling.models import AgreementReport, Dataset, Label, LabelReading, Revision
from labeling.tasks import agreement as agreement_task
from tests.labeling.windows import differing_compared
from tests.labeling_pages.conftest import body
from tests.labeling_pages.shop import returned, row
from toolevals.grading.reading.examples import read_example
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Job, User

GREETING = {"kind": "no_call", "why": "greeting"}


def at(name: str = "agreement", query: str = "") -> str:
    return reverse(f"labeling:{name}", args=["shop", "core"]) + query


def table(response: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))


def decide(adjudicator: User) -> None:
    for revision in Revision.objects.filter(resolution="disagreed"):
        adjudication_decide(revision=revision, actor=adjudicator, expectation=returned(), rationale="So.")


@pytest.fixture
def decided(disagreed: Revision, reviewer: User, second_reviewer: User, adjudicator: User) -> Revision:
    """Two examples: the arguments differ in the one, the tools in the other; both decided."""
    for user, expectation in ((reviewer, returned()), (second_reviewer, GREETING)):
        slot = slot_claim(dataset_or_project=disagreed.example.dataset, actor=user)
        assert slot is not None
        differing_compared(label_submit(slot=slot, actor=user, expectation=expectation).revision)
    decide(adjudicator)
    return disagreed


def test_page_matrix_cases_and_files_say_the_same(
    decided: Revision, viewer: User, as_user: Callable[[User], Client]
) -> None:
    client = as_user(viewer)
    page = body(client.get(at()))
    assert "of 2 decided examples got the same tool" in page
    data = re.search(r'<script id="agreement-data" type="application/json">(.*?)</script>', page)
    assert data is not None
    matrix = json.loads(data[1])["matrix"]
    down, right = matrix["rows"].index("create_return"), matrix["columns"].index("(none)")
    address = matrix["addresses"][matrix["cells"].index([down, right])]
    assert f'<td class="e2"><a href="{address}" '.replace("&", "&amp;") in page
    listed = body(client.get(address))
    assert "One said create_return, another (none)" in listed
    assert listed.count('<th scope="row">') == 1
    (line,) = (each for each in table(client.get(at("agreement-csv", "?form=matrix"))) if each["one"] == "(none)")
    assert (line["other"], line["units"]) == ("create_return", "1")
    rows = table(client.get(at("agreement-cases-csv", "?show=tool_differs")))
    assert [each["tool"] for each in rows] == ["create_return", "(none)"]
    assert {each["label"] for each in rows} <= {str(pk) for pk in Label.objects.values_list("pk", flat=True)}
    percent = table(client.get(at("agreement-csv")))[0]
    assert (percent["what"], percent["figure"], percent["value"], percent["units"]) == ("tool", "percent", "0.5", "2")
    assert len(table(client.get(at("agreement-csv", "?form=periods")))) == 2


def test_owners_see_everybody_others_themselves(
    decided: Revision, owner: User, reviewer: User, second_reviewer: User, as_user: Callable[[User], Client]
) -> None:
    page = body(as_user(owner).get(at()))
    assert "Labels compared with decisions" in page
    assert f"gold=label_wrong&amp;of={second_reviewer.pk}" in page
    own = body(as_user(reviewer).get(at()))
    assert "Your labels compared with decisions" in own
    assert str(second_reviewer.pk) not in own
    assert 'name="reviewer"' not in own
    told = table(as_user(reviewer).get(at("agreement-csv", "?form=reviewers")))
    assert {each["reviewer"] for each in told} == {str(reviewer.pk)}
    wrong = f"?gold=tool_wrong&of={second_reviewer.pk}"
    assert body(as_user(owner).get(at("agreement-cases", wrong))).count('<th scope="row">') == 1
    assert "Decided on another tool" not in body(as_user(reviewer).get(at("agreement-cases", wrong)))


def test_the_chart_of_pace_shows_whom_the_table_shows(
    decided: Revision, owner: User, reviewer: User, second_reviewer: User, as_user: Callable[[User], Client]
) -> None:
    Label.objects.filter(reviewer=reviewer).update(seconds=40)
    Label.objects.filter(reviewer=second_reviewer).update(seconds=10)
    client = as_user(owner)
    page = body(client.get(at()))
    chart = page[page.index('class="bars plain pace-bars"') :].partition("</ul>")[0]
    assert re.findall(r'width="([\d.]+)%"', chart) == ["25.0", "100.0"]
    assert re.findall(r'class="num">(\d+ s)<', chart) == ["10 s", "40 s"]
    (second, first) = re.findall(r'href="(.*?)"', chart)
    assert (str(second_reviewer.pk) in second, str(reviewer.pk) in first) == (True, True)
    assert body(client.get(second)).count('<th scope="row">') == 2
    own = body(as_user(reviewer).get(at()))
    assert "pace-bars" not in own
    assert "A second person" not in own


def test_a_point_over_time_opens_its_examples(
    decided: Revision, owner: User, as_user: Callable[[User], Client]
) -> None:
    client = as_user(owner)
    assert "A second day with examples draws a line" in body(client.get(at()))
    labels_read(decided.example.dataset)
    Label.objects.filter(revision=decided).update(created_at=database_now() - timedelta(days=2))
    cache.clear()
    page = body(client.get(at()))
    assert "A second day with examples" not in page
    data = re.search(r'<script id="agreement-data" type="application/json">(.*?)</script>', page)
    assert data is not None
    addresses = json.loads(data[1])["periods"]["data"][2]["customdata"]
    assert [body(client.get(address)).count('<th scope="row">') for address in addresses] == [1, 1]
    assert all(address.replace("&", "&amp;") in page for address in addresses)


def test_a_pair_is_the_owners_to_choose(
    decided: Revision, owner: User, adjudicator: User, reviewer: User, second_reviewer: User,
    as_user: Callable[[User], Client],
) -> None:  # fmt: skip
    pair = f"?reviewer={second_reviewer.pk}&other={reviewer.pk}"
    lines = table(as_user(owner).get(at("agreement-csv", f"{pair}&form=matrix")))
    assert {"one": "(none)", "other": "create_return", "units": "1"} in lines
    assert "Labels of the two people" in body(as_user(owner).get(at(query=pair)))
    assert "Labels of the two people" not in body(as_user(adjudicator).get(at(query=pair)))


def test_what_is_not_resolved_changes_nothing(
    decided: Revision, dataset: Dataset, owner: User, reviewer: User, second_reviewer: User,
    as_user: Callable[[User], Client],
) -> None:  # fmt: skip
    client = as_user(owner)
    names = ("agreement", "agreement-csv", "agreement-cases", "agreement-cases-csv")

    def shown() -> dict[str, bytes]:
        return {name: b"".join(client.get(at(name))).rpartition(b"<main")[2] for name in names}

    before = shown()
    for user in (reviewer, second_reviewer):
        slot = slot_claim(dataset_or_project=dataset, actor=user)
        assert slot is not None
        label_submit(slot=slot, actor=user, expectation=GREETING if user == reviewer else returned())
    assert shown() == before
    assert LabelReading.objects.count() == 4


def test_filters_and_empty_pages(
    decided: Revision, dataset: Dataset, viewer: User, as_user: Callable[[User], Client]
) -> None:
    client = as_user(viewer)
    assert "Nothing can be compared with these filters" in body(client.get(at(query="?bucket=nothing")))
    assert "Nothing can be compared with these filters" in body(client.get(at(query="?until=2020-01-01")))
    assert "No example matches" in body(client.get(at("agreement-cases", "?one=a&two=b")))
    assert client.get(at("agreement-cases", "?before=x&one=%01&two=%01&of=x&gold=judged")).status_code == 200


def test_hostile_names_are_text(decided: Revision, viewer: User, as_user: Callable[[User], Client]) -> None:
    labels_read(decided.example.dataset)
    evil = "=<script>alert(1)</script>&\"'"
    for reading in LabelReading.objects.all():
        LabelReading.objects.filter(pk=reading.pk).update(tool=evil, arguments={evil: {evil: str(reading.pk)}})
    client = as_user(viewer)
    page = body(client.get(at()))
    assert "<script>alert" not in page
    addresses = [
        each.replace("&amp;", "&") for each in re.findall(r'href="(/[^"]*(?:argument_differs|one=)[^"]*)"', page)
    ]
    assert len(addresses) == 2
    for address in addresses:
        listed = body(client.get(address))
        assert "<script>alert" not in listed
        assert listed.count('<th scope="row">') == 2
    assert table(client.get(at("agreement-csv", "?form=matrix")))[0]["one"] == f"'{evil}"


def test_pages_take_as_many_queries_for_many_as_for_few(
    decided: Revision, dataset: Dataset, reviewer: User, second_reviewer: User, adjudicator: User, owner: User,
    as_user: Callable[[User], Client],
) -> None:  # fmt: skip
    client = as_user(owner)

    def queries(name: str) -> int:
        client.get(at(name))
        with CaptureQueriesContext(connection) as found:
            assert client.get(at(name)).status_code == 200
        return len(found)

    few = {name: queries(name) for name in ("agreement", "agreement-cases")}
    examples_import(dataset=dataset, actor=None, rows=[read_example(row(number)) for number in range(50, 56)])
    while slot := slot_claim(dataset_or_project=dataset, actor=reviewer):
        label_submit(slot=slot, actor=reviewer, expectation=returned())
    while slot := slot_claim(dataset_or_project=dataset, actor=second_reviewer):
        label_submit(slot=slot, actor=second_reviewer, expectation=GREETING)
    decide(adjudicator)
    assert {name: queries(name) for name in few} == few
    assert max(few.values()) <= 21


def test_all_pairs_are_counted_in_blocks_and_the_page_says_how_many_wait(
    decided: Revision, viewer: User, as_user: Callable[[User], Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    Label.objects.update(created_at=database_now() - timedelta(days=1))
    page = body(as_user(viewer).get(at()))
    assert "2 more pairs appear when the next block of 20 is complete" in page
    assert "Figures for all pairs appear after 20 pairs." in page
    monkeypatch.setattr("labeling.agreement.figures.BLOCK", 2)
    page = body(as_user(viewer).get(at()))
    assert "of 2 pairs of labels choose the same tool" in page
    assert "of 2 pairs of labels" not in body(as_user(viewer).get(at(query="?since=2020-01-01")))

    dataset = decided.example.dataset
    tallied = pairs_tallied(dataset)
    assert (tallied.pairs, tallied.differing, bool(tallied.counted_at)) == (2, 2, True)
    # Of a large dataset it is what a job counted last; a page that only mentions it begins none.
    monkeypatch.setattr("labeling.agreement.cache.COUNTED_AT_ONCE", 0)
    cache.clear()
    assert (pairs_tallied(dataset).counted_at, Job.objects.filter(kind="agreement").count()) == (None, 0)
    assert pairs_tallied(dataset, begin=True).counted_at is None
    agreement_task(str(Job.objects.get(kind="agreement").batches.get().pk))
    again = pairs_tallied(dataset)
    assert (again.pairs, again.differing) == (2, 2)
    assert again.counted_at == AgreementReport.objects.get().counted_at
