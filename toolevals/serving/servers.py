"""Listens for clients: takes connections, and closes those that keep it waiting."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import Any, Protocol

from waitress.adjustments import Adjustments
from waitress.server import TcpWSGIServer, UnixWSGIServer
from waitress.task import ThreadedTaskDispatcher

from toolevals.serving.channels import Channel

# Of the connections that a process holds when it is full, the share that is closed: those silent for longest.
CLOSED_WHEN_FULL = 0.1


class Server(Protocol):
    """The parts of a server that a worker uses."""

    active_channels: dict[int, Channel]

    def pull_trigger(self) -> None: ...
    def listening_end(self) -> None: ...
    def at_work(self) -> bool: ...


class RetryPolicy:
    """A limit on the time a server waits for its clients, and a choice of those it lets go when it is full."""

    active_channels: dict[int, Channel]
    adj: Adjustments
    _map: dict[int, Any]
    channel_class = Channel

    def maintenance(self, now: float) -> None:
        """Close what is overdue."""
        super().maintenance(now)  # type: ignore[misc]
        for channel in self.active_channels.values():
            if channel.is_overdue(time.monotonic()):
                channel.will_close = True

    def readable(self) -> bool:
        """Return whether connections are taken; a full server makes room first."""
        if len(self._map) >= self.adj.connection_limit:
            self._make_room()
        return bool(super().readable())  # type: ignore[misc]

    def _make_room(self) -> None:
        waiting = [channel for channel in self.active_channels.values() if channel.waits_for_client()]
        waiting.sort(key=lambda channel: channel.last_activity)
        for channel in waiting[: max(1, int(self.adj.connection_limit * CLOSED_WHEN_FULL))]:
            channel.handle_close()

    def listening_end(self) -> None:
        """Take no more connections, and close those that have nothing in hand."""
        self.accepting = False
        for channel in list(self.active_channels.values()):
            if channel.waits_for_client():
                channel.handle_close()

    def at_work(self) -> bool:
        """Return whether a request is at work or an answer is on its way."""
        return any(not channel.waits_for_client() for channel in self.active_channels.values())


class TcpServer(RetryPolicy, TcpWSGIServer):  # type: ignore[misc]
    """Listens on an address."""


class UnixServer(RetryPolicy, UnixWSGIServer):  # type: ignore[misc]
    """Listens on a socket in the file system."""


def serve(
    application: Callable[..., Any],
    sock: socket.socket,
    channels: dict[int, Any],
    dispatcher: ThreadedTaskDispatcher,
    adjustments: Adjustments,
) -> Server:
    """Return a server on a socket that is bound already; it shares the loop and the threads of the others."""
    kind = UnixServer if sock.family == socket.AF_UNIX else TcpServer
    server: Server = kind(
        application,
        channels,
        True,
        sock,
        dispatcher=dispatcher,
        adj=adjustments,
        bind_socket=False,
        sockinfo=(sock.family, sock.type, sock.proto, sock.getsockname()),
    )
    return server
