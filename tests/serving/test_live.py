"""The web server as it is started: gunicorn, its processes, the application behind them."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.fixtures.application import LiveApp

pytestmark = pytest.mark.servers
HALF_A_HEAD = b"GET /healthz HTTP/1.1\r\nHost: loc"
HALF_A_BODY = b"POST /sign-in/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n\r\n" + b"a=1&" * 500
LARGE = 2 * 1024 * 1024


@pytest.fixture(scope="module")
def live_app(live_app_start: Callable[..., LiveApp]) -> LiveApp:
    """An application that has started as installations do."""
    return live_app_start(loaded=False)


def test_it_answers_while_hundreds_of_clients_stall_and_refuses_what_strangers_send(live_app: LiveApp) -> None:
    address = urlsplit(live_app.url)
    where = (address.hostname or "", address.port or 0)
    with ExitStack() as held:
        for sent in [HALF_A_BODY] * 50 + [HALF_A_HEAD] * 600:
            held.enter_context(socket.create_connection(where, timeout=60)).sendall(sent)
        connection = held.enter_context(closing(http.client.HTTPConnection(*where, timeout=60)))
        # One connection is kept for all of them.
        held_open = set()
        for path in ("/healthz", "/sign-in/", "/healthz"):
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
            assert (answer.status, answer.getheader("Server"), answer.getheader("Connection")) == (200, None, None)
            held_open.add(connection.sock)
        assert len(held_open) == 1
        stranger = held.enter_context(closing(http.client.HTTPConnection(*where, timeout=60)))
        stranger.putrequest("POST", "/sign-in/")
        stranger.putheader("Content-Length", str(LARGE))
        stranger.endheaders(b"a=")
        refused = stranger.getresponse()
        assert refused.status == 401
        assert b"1,048,576 bytes" in refused.read()


def test_temporary_files_are_kept_with_the_data(live_app: LiveApp) -> None:
    assert Path(live_app.application.data, "temporary").is_dir()
