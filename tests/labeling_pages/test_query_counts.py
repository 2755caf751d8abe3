"""Lists take as many queries for many rows as for few."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from labeling.imports.services import examples_import
from labeling.models import Dataset, Revision
from tests.labeling_pages.shop import row
from toolevals.grading.reading.examples import read_example
from toolevals.workspace.models import User


def queries(client: Client, address: str) -> int:
    client.get(address)
    with CaptureQueriesContext(
        connection,
    ) as found:
        assert client.get(address).status_code == 200
    return len(found)


@pytest.mark.parametrize(
    ("name", "arguments", "query", "most"),
    [
        ("datasets", [], "", 12),
        ("dataset", ["core"], "", 15),
        ("adjudicate", [], "?list", 12),
        ("versions", ["core"], "", 12),
    ],
)
def test_lists(
    disagreed: Revision,
    dataset: Dataset,
    adjudicator: User,
    as_user: Callable[[User], Client],
    name: str,
    arguments: list[Any],
    query: str,
    most: int,
):
    client = as_user(adjudicator)
    address = reverse(f"labeling:{name}", args=["shop", *arguments]) + query
    few = queries(client, address)
    golden = {"expected_tool": "get_order", "expected_args": {"order_id": "A-1"}}
    rows = [read_example(row(number, **(golden if number % 2 else {}))) for number in range(50, 90)]
    examples_import(dataset=dataset, actor=None, rows=rows)
    assert queries(client, address) == few <= most


def test_the_label_page(dataset: Dataset, reviewer: User, as_user: Callable[[User], Client]):
    client = as_user(reviewer)
    address = client.get(reverse("labeling:label", args=["shop"]))["Location"]
    assert queries(client, address) <= 19
