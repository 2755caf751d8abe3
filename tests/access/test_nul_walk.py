"""Every address, opened by an owner, and again with a NUL in a filter: PostgreSQL takes none, and nothing breaks."""

from __future__ import annotations

from base64 import b64encode
from http import HTTPStatus
from typing import Any, ClassVar
from urllib.parse import urlencode

import pytest
from django.http import QueryDict

from tests.access.addresses import addresses
from tests.access.asking import at

# What a cursor of the REST interface holds is read once more.
CURSOR = b64encode(urlencode({"p": "\0"}).encode()).decode()


class Noted(QueryDict):
    """A query that notes which names it was asked for."""

    asked: ClassVar[set[str]] = set()

    def __getitem__(self, key: str) -> Any:
        self.asked.add(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self.asked.add(str(key))
        return super().__contains__(key)

    def getlist(self, key: str, default: Any = None) -> Any:
        self.asked.add(key)
        return super().getlist(key, default)


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names that are looked for in queries."""
    monkeypatch.setattr(Noted, "asked", set())
    monkeypatch.setattr("django.core.handlers.wsgi.QueryDict", Noted)
    return Noted.asked


@pytest.mark.parametrize("address", addresses(), ids=str)
def test_a_nul_in_any_parameter_is_refused(world, names, address):
    with at(world, address, world.owner) as (client, path):
        assert client.get(path).status_code < HTTPStatus.INTERNAL_SERVER_ERROR
        wanted = sorted(names)
        found = {
            f"{name}={value}": client.get(path, {name: value}).status_code
            for name, value in (*((each, "a\0b") for each in wanted), ("q", "\0"))
        }
        assert {said: status for said, status in found.items() if status != HTTPStatus.BAD_REQUEST} == {}
        if "cursor" in wanted:
            assert client.get(path, {"cursor": CURSOR}).status_code == HTTPStatus.NOT_FOUND
