"""The examples of a dataset as a file: those of the list, with its filters, as far as the reader is told."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from labeling.imports.services import examples_import
from labeling.models import Dataset, Example
from tests.labeling_pages.shop import row
from toolevals.grading.reading.examples import read_example
from toolevals.workspace.models import User

pytestmark = pytest.mark.django_db
AsUser = Callable[[User], Client]
GOLD = {"expected_tool": "get_order", "expected_args": {"order_id": "A-1"}}


def file(client: Client, query: dict[str, str]) -> list[dict[str, str]]:
    sent: Any = client.get(reverse("labeling:dataset-csv", args=["shop", "core"]), query)
    return list(csv.DictReader(io.StringIO(b"".join(sent.streaming_content).decode())))


@pytest.mark.database
@pytest.mark.parametrize(
    "query",
    [{}, {"q": "ex-7"}, {"bucket": "selection"}, {"status": "resolved"}, {"status": "open"}, {"q": "no"}],
    ids=str,
)
def test_it_holds_what_the_list_shows(dataset: Dataset, viewer: User, as_user: AsUser, monkeypatch, query):
    monkeypatch.setattr("toolevals.workspace.paging.pages_of.__defaults__", (2,))
    rows = [row(7, strata={"bucket": "selection"}, **GOLD), row(8, **GOLD)]
    examples_import(dataset=dataset, actor=None, rows=[read_example(each) for each in rows])
    client = as_user(viewer)
    listed = client.get(reverse("labeling:dataset", args=["shop", "core"]), query).context["rows"]
    shown = [
        (str(each.example.pk), each.example.external_id, each.example.status, each.says, each.expects, each.source)
        for each in listed
    ]
    columns = ("example_id", "external_id", "status", "says", "expects", "source")
    assert [tuple(line[name] for name in columns) for line in file(client, query)] == shown


def test_what_somebody_typed_is_no_formula(dataset: Dataset, viewer: User, as_user: AsUser):
    said = Example.objects.filter(dataset=dataset).latest("pk")
    revision: Any = said.current
    revision.input = {"messages": [{"role": "user", "content": "=1+1"}]}
    revision.save()
    assert [line["says"] for line in file(as_user(viewer), {"q": said.external_id})] == ["'=1+1"]
