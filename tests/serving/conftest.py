"""A server as a process of the web server runs it, in a thread, with an application that notes what it is handed."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from waitress import wasyncore

from toolevals.serving import admission
from toolevals.serving.worker import limits_of, server_on

UPLOAD_BYTES = 4 * 1024 * 1024
CONNECTIONS = 150


class Served:
    """A server with one thread: what holds a thread holds everything."""

    def __init__(self) -> None:
        self.handed: list[tuple[str, bytes]] = []
        self.answer: Callable[[], Iterable[bytes]] = lambda: [b"fine"]
        self.status = "200 OK"
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.map: dict[int, Any] = {}
        limits = limits_of(1, UPLOAD_BYTES, CONNECTIONS)
        self.server: Any = server_on(self.application, [self.listener], self.map, **limits)
        self.stopped = threading.Event()
        self.loop = threading.Thread(target=self._turn)
        self.loop.start()

    def application(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        body = environ["wsgi.input"].read()
        assert len(body) == int(environ.get("CONTENT_LENGTH") or 0)
        self.handed.append((environ["PATH_INFO"], body))
        start_response(self.status, [("Content-Type", "text/plain")])
        return self.answer()

    def connect(self, sent: bytes = b"") -> socket.socket:
        """Return a connection on which something has been sent."""
        connection = socket.create_connection(self.listener.getsockname(), timeout=60)
        connection.sendall(sent)
        return connection

    def ask(self, sent: bytes) -> bytes:
        """Return all that is answered until the server closes the connection."""
        with self.connect(sent) as connection:
            return read_all(connection)

    def answers(self) -> bool:
        """Return whether a request of somebody else is answered."""
        return self.ask(b"GET /other HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").endswith(b"fine")

    def stop(self) -> None:
        self.stopped.set()
        self.server.pull_trigger()
        self.loop.join()
        self.server.task_dispatcher.shutdown()
        wasyncore.close_all(self.map)
        self.listener.close()

    def _turn(self) -> None:
        while not self.stopped.is_set():
            wasyncore.loop(timeout=0.05, use_poll=True, map=self.map, count=1)


def read_all(connection: socket.socket) -> bytes:
    """Return what comes until the other side closes."""
    return b"".join(iter(lambda: connection.recv(1 << 16), b""))


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A server that admits every large body."""
    monkeypatch.setattr(admission, "refusal", lambda _: None)
    served = Served()
    yield served
    served.stop()
