"""Servers that answer far too much: packed small, without end, or by one line that never ends."""

from __future__ import annotations

import itertools
import socketserver
import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

MEGABYTE = 1024 * 1024


def packed(bits: int, megabytes: int) -> Iterator[bytes]:
    """Yield so many megabytes of blanks as zlib packs them: a thousandth of that."""
    packer = zlib.compressobj(9, zlib.DEFLATED, bits)
    yield packer.compress(b" " * MEGABYTE) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(b" " * MEGABYTE) + packer.flush(zlib.Z_FULL_FLUSH)
    yield from itertools.repeat(again, megabytes - 1)


def answer(kind: str, parts: Iterable[bytes], encoding: str = "") -> Iterator[bytes]:
    """Yield an answer that ends when the connection does."""
    packing = f"Content-Encoding: {encoding}\r\n" if encoding else ""
    yield f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{packing}Connection: close\r\n\r\n".encode()
    yield from parts


@contextmanager
def flooding(parts: Sequence[bytes]) -> Iterator[str]:
    """Yield the address of a server that sends these to everybody, whatever is asked."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            # What is left unread would reset the connection before all is read that was sent.
            head = iter(self.rfile.readline, b"\r\n")
            length = sum(int(line.split(b":")[1]) for line in head if line.lower().startswith(b"content-length:"))
            self.rfile.read(length)
            try:
                for part in parts:
                    self.wfile.write(part)
            except OSError:
                return

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
