"""Servers on loopback that answer as a test says."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol, TypeVar


class Trouble:
    """An answer that is none: a status with headers and a body."""

    def __init__(self, status: int, body: str = "{}", **headers: str) -> None:
        self.status = status
        self.body = body
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def broken_stream(events: str, *, closed: bool) -> Trouble:
    """Return events that are all that comes; with `closed`, the connection breaks before the length that was said."""
    length = {"Content_Length": str(len(events.encode()) + 100), "Connection": "close"} if closed else {}
    return Trouble(200, events, Content_Type="text/event-stream", **length)


class Reachable(Protocol):
    """What a test knows of a server."""

    url: str


State = TypeVar("State", bound=Reachable)


class Handler(BaseHTTPRequestHandler, ABC):
    """Answers whole bodies, and says nothing on the console."""

    protocol_version = "HTTP/1.1"

    @abstractmethod
    def answer(self) -> None:
        """Read the request and send what comes back."""

    def do_POST(self) -> None:
        self.answer()

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers["Content-Length"]))

    def send(self, status: int, body: str, kind: str, headers: dict[str, str]) -> None:
        data = body.encode()
        with suppress(ConnectionError):  # Whoever asked has gone.
            self._send(status, data, kind, headers)

    def _send(self, status: int, data: bytes, kind: str, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def trouble(self, trouble: Trouble) -> None:
        self.send(trouble.status, trouble.body, "application/json", trouble.headers)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def serving(handler: type[Handler]) -> Iterator[str]:
    """Yield the address, without a path, until the context ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def playing(handler: type[Handler], state: State, path: str = "") -> Iterator[State]:
    """Serve until the context ends by handlers that find the state, whose `url` becomes the address, as theirs."""
    played = type("Played", (handler,), {"server_state": state})
    with serving(played) as address:
        state.url = address + path
        yield state
