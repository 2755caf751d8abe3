"""The examples of a frozen version: the list, its filters, its CSV, and what leads there."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from labeling.imports.services import examples_import
from labeling.models import Dataset, DatasetVersion
from labeling.versions import views as version_examples
from labeling.versions.services import version_freeze
from tests.labeling_pages.conftest import body
from tests.labeling_pages.shop import row
from toolevals.grading.reading.examples import read_example
from toolevals.workspace.models import User

pytestmark = pytest.mark.django_db
AsUser = Callable[[User], Client]
RETURN = {"order_id": "A-1", "skus": ["LIN"], "refund_to": "store credit"}


@pytest.fixture
def version(dataset: Dataset) -> DatasetVersion:
    """Three frozen examples: two without a call, one with; the first has other gold now."""
    rows = [
        row(1, strata={"bucket": "selection"}, expected_tool=None),
        row(2, strata={"bucket": "recovery"}, expected_tool=None),
        row(3, strata={"bucket": "selection"}, expected_tool="create_return", expected_args=RETURN),
    ]
    examples_import(dataset=dataset, actor=None, rows=[read_example(one) for one in rows])
    frozen = version_freeze(dataset=dataset, actor=None)
    other = row(1, strata={"bucket": "selection"}, expected_tool="create_return", expected_args=RETURN)
    examples_import(dataset=dataset, actor=None, rows=[read_example(other)])
    return frozen


def names(client: Client, version: DatasetVersion, query: dict[str, Any]) -> list[str]:
    """Return the examples that the list shows; the CSV must hold the same."""
    places = ["shop", version.dataset.slug, version.number]
    listed = client.get(reverse("labeling:version-examples", args=places), query)
    sent = client.get(reverse("labeling:version-examples-csv", args=places), query)
    text = b"".join(sent.streaming_content).decode()  # type: ignore[attr-defined]
    lines = csv.DictReader(io.StringIO(text))
    found = [entry.revision.example.external_id for entry, _, _ in listed.context["rows"]]
    assert [line["external_id"] for line in lines] == found
    return found


@pytest.mark.database
def test_it_is_filtered_by_what_the_datasheet_counts(version: DatasetVersion, viewer: User, as_user: AsUser):
    client = as_user(viewer)
    # The datasheet reads what gold calls.
    client.get(reverse("labeling:datasheet", args=["shop", version.dataset.slug, "1"]))
    first, second, third = version.entries.values_list("revision__example__external_id", flat=True)
    assert names(client, version, {}) == [first, second, third]
    assert names(client, version, {"bucket": "selection"}) == [first, third]
    assert names(client, version, {"tool": "(none)"}) == [first, second]
    assert names(client, version, {"tool": "create_return"}) == [third]
    assert names(client, version, {"source": "imported"}) == [first, second, third]
    assert names(client, version, {"source": "agreed"}) == []
    assert names(client, version, {"changed": "1"}) == [first]
    assert names(client, version, {"q": third}) == [third]


def test_numbers_of_the_datasheet_lead_there(version: DatasetVersion, viewer: User, as_user: AsUser):
    client = as_user(viewer)
    place = ["shop", version.dataset.slug, str(version.number)]
    page = body(client.get(reverse("labeling:datasheet", args=place)))
    address = reverse("labeling:version-examples", args=place)
    for query in ("bucket=selection", "tool=create_return", "tool=%28none%29", "source=imported", "changed=1"):
        assert f'"{address}?{query}"' in page
    assert f'"{address}"' in page


def test_pages_follow_one_another_in_the_order_of_the_version(
    version: DatasetVersion, viewer: User, as_user: AsUser, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(version_examples, "LIST_SIZE", 2)
    client = as_user(viewer)
    address = reverse("labeling:version-examples", args=["shop", version.dataset.slug, version.number])
    with CaptureQueriesContext(
        connection,
    ) as asked:
        first = client.get(address, {"source": "imported"})
    assert len(asked) <= 12
    assert "?source=imported&amp;from=2" in body(first)
    second = client.get(address, {"source": "imported", "from": "2"})
    assert [entry.position for entry, _, _ in second.context["rows"]] == [2]
    assert second.context["following"] is None
