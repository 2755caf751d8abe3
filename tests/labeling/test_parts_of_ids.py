"""Examples by a part of their ids: the page is the same whichever way the database finds it."""

from __future__ import annotations

from importlib import import_module
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection

from labeling.datasets.services import dataset_create
from labeling.imports.services import examples_import
from labeling.models import Dataset, Example
from tests.labeling.rows import SHOP_TOOLS, row
from toolevals.registry.services import registry_create, registry_publish
from toolevals.workspace import paging

pytestmark = [pytest.mark.django_db, pytest.mark.database]
NAMES = ("old-1", "old-2", "Old-3", "new-1", "new-2", "100%", "a_b", "new-3", "straße", "new-4")
IS_POSTGRESQL = connection.vendor == "postgresql"
MIGRATION = import_module("labeling.migrations.0001_initial")


@pytest.fixture
def dataset(project: Any) -> Dataset:
    registry = registry_create(project=project, actor=None, slug="parts", name="Parts")
    tools = registry_publish(registry=registry, actor=None, document=SHOP_TOOLS)
    found = dataset_create(project=project, actor=None, slug="parts", name="Parts", default_tools=tools)
    examples_import(dataset=found, actor=None, rows=[row(name) for name in NAMES])
    return found


def pages(dataset: Dataset, part: str, size: int) -> list[list[str]]:
    """Return the ids on each page of the examples that hold a part, as the list has them."""
    every = Example.objects.of_dataset(dataset)
    found, before = [], ""
    while True:
        page = paging.sought_page_of(every.named_like(part), every, before, size)
        found.append([example.external_id for example in page.rows])
        before = page.older
        if not before:
            return found


@pytest.mark.parametrize("part", ["old", "OLD-", "new", "-1", "100%", "_", "%", "straße", "absent", "w-4"])
def test_pages_hold_every_example_once_newest_first(dataset, monkeypatch, part):
    wanted = [name for name in reversed(NAMES) if part.lower() in name.lower()]
    for size, near in product((1, 2, 100), (0, 1, 3, 100)):
        monkeypatch.setattr(paging, "LOOK_AT", near)
        found = pages(dataset, part, size)
        assert [name for page in found for name in page] == wanted, (size, near)
        assert all(len(page) == size for page in found[:-1])


def test_what_is_no_cursor_counts_as_none(dataset):
    every = Example.objects.of_dataset(dataset)
    assert len(paging.sought_page_of(every.named_like("new"), every, "x", 10).rows) == 4


def test_an_index_of_parts_is_used_where_the_database_has_it(dataset):
    if IS_POSTGRESQL:
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off")
    assert ("example_id_parts" in Example.objects.named_like("old").explain()) == IS_POSTGRESQL


def test_a_database_that_does_not_allow_the_index_goes_without(dataset):
    with connection.cursor() as cursor:
        if IS_POSTGRESQL:
            cursor.execute("DROP EXTENSION pg_trgm CASCADE; CREATE ROLE narrow; SET LOCAL ROLE narrow")
        MIGRATION.index_make(None, SimpleNamespace(connection=connection))
        if IS_POSTGRESQL:
            cursor.execute("RESET ROLE")
    assert "example_id_parts" not in Example.objects.named_like("old").explain()
    assert pages(dataset, "old", 2) == [["Old-3", "old-2"], ["old-1"]]
