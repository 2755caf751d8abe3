"""A connection stays open for the next request, behind every answer that says where it ends."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.serving.conftest import Served


def statuses(served: Served, *methods: str, headers: dict[str, str] | None = None) -> list[tuple[int, bytes, bool]]:
    """Return of each request on one connection the status, the body, and whether the connection was kept."""
    host, port = served.listener.getsockname()
    with closing(http.client.HTTPConnection(host, port, timeout=60)) as connection:
        connection.connect()
        first, found = connection.sock, []
        for method in methods:
            connection.request(method, "/", headers=headers or {})
            answer = connection.getresponse()
            found.append((answer.status, answer.read(), connection.sock is first))
        return found


def test_an_answer_with_its_length_keeps_it(served: Served) -> None:
    assert statuses(served, "GET", "GET") == 2 * [(200, b"fine", True)]


def test_who_asks_to_close_is_left(served: Served) -> None:
    served.answer = lambda: iter([b"one"])
    assert statuses(served, "GET", headers={"Connection": "close"}) == [(200, b"one", False)]


def test_an_answer_that_breaks_off_is_no_whole_one(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    def breaks() -> Iterator[bytes]:
        yield b"one"
        raise RuntimeError("lost")

    served.answer = breaks
    with pytest.raises(http.client.IncompleteRead):
        statuses(served, "GET")
    assert "lost" in caplog.text


def test_an_old_client_is_left_where_the_end_is_not_said(served: Served) -> None:
    served.answer = lambda: iter([b"one"])
    assert served.ask(b"GET / HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\n\r\n").endswith(b"one")
