"""Every address, opened by an owner, and again with a NUL, a number too long or strange digits in its parameters."""

from __future__ import annotations

from base64 import b64encode
from http import HTTPStatus
from typing import Any, ClassVar
from urllib.parse import urlencode

import pytest
from django.http import QueryDict

from tests.access.addresses import addresses
from tests.access.asking import at

# A number that no column holds, and a digit that is no number.
NINES, SUPERSCRIPT = "9" * 5000, "²"
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
def test_hostile_parameters_break_nothing(world, names, address):
    with at(world, address, world.owner) as (client, path):
        assert client.get(path).status_code < HTTPStatus.INTERNAL_SERVER_ERROR
        wanted = sorted(names)
        found = {
            f"{name}={value}": client.get(path, {name: value}).status_code
            for name, value in (*((each, "a\0b") for each in wanted), ("q", "\0"))
        }
        assert {said: status for said, status in found.items() if status != HTTPStatus.BAD_REQUEST} == {}
        hostile = {name: client.get(path, {name: NINES}).status_code for name in wanted}
        hostile["all"] = client.get(path, dict.fromkeys(wanted, SUPERSCRIPT)).status_code
        assert {said: status for said, status in hostile.items() if status >= HTTPStatus.INTERNAL_SERVER_ERROR} == {}
        if "cursor" in wanted:
            assert client.get(path, {"cursor": CURSOR}).status_code == HTTPStatus.NOT_FOUND
