"""The OpenAPI document as it is sent: made once, and the same for everybody."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import Any

import pytest
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

from toolevals.workspace.api.document import document, made_document
from toolevals.workspace.models import User

ADDRESS = "/api/v1/openapi.json"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """The versions of the documents that are made meanwhile; none is kept before."""
    found: list[str | None] = []
    parse: Any = SchemaGenerator.parse

    def note(self: Any, *args: Any) -> Any:
        found.append(self.api_version)
        return parse(self, *args)

    monkeypatch.setattr(SchemaGenerator, "parse", note)
    made_document.cache_clear()
    return found


def test_everybody_is_sent_the_one_document(client: Client, owner: User, made: list[str | None]):
    first = client.get(ADDRESS)
    client.force_login(owner)
    assert first.status_code == HTTPStatus.OK
    generator: Any = SchemaGenerator
    assert client.get(ADDRESS).json() == first.json() == generator().get_schema(public=True)
    # The last is the test's own.
    assert made == [None, None]


def test_a_document_that_names_a_version_is_not_the_kept_one(client: Client, db: None, made: list[str | None]):
    assert client.get(ADDRESS, {"version": "seven"}).json()["info"]["version"] == "1 (seven)"
    assert client.get(ADDRESS).json()["info"]["version"] == "1"
    assert made == ["seven", None]


def test_threads_that_ask_at_once_get_one_whole_document(made: list[str | None]):
    with ThreadPoolExecutor(8) as pool:
        documents = list(pool.map(lambda _: document(), range(8)))
    assert all(each is documents[0] for each in documents)
    assert made == [None]
