"""A way to a server that takes longer: a TCP proxy that holds every answer back for a while."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from types import TracebackType
from typing import Self

CHUNK = 65_536


class DelayingProxy:
    """Listens on loopback and passes bytes on, many connections at once; each answer begins `seconds` later.

    An answer begins with the first bytes that come back after something was sent, so that a connection that is kept
    alive is as slow at its tenth request as at its first.
    """

    def __init__(self, port: int, seconds: float = 0.2) -> None:
        self.target = ("127.0.0.1", port)
        self.seconds = seconds
        self.held = 0
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._closing = threading.Event()
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, name="delaying-proxy", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._closing.set()
        # Wakes whoever waits in accept().
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        """Pass on one connection; where the server is away, the client is hung up on."""
        with client:
            try:
                server = socket.create_connection(self.target)
            except OSError:
                return
            with server:
                asked = threading.Event()
                back = threading.Thread(target=self._answer, args=(server, client, asked), daemon=True)
                back.start()
                with contextlib.suppress(OSError):
                    while part := client.recv(CHUNK):
                        asked.set()
                        server.sendall(part)
                    server.shutdown(socket.SHUT_WR)
                back.join()

    def _answer(self, server: socket.socket, client: socket.socket, asked: threading.Event) -> None:
        with contextlib.suppress(OSError):
            while part := server.recv(CHUNK):
                if asked.is_set():
                    asked.clear()
                    self.held += 1
                    time.sleep(self.seconds)
                client.sendall(part)
            client.shutdown(socket.SHUT_RDWR)
