"""Runs a process of the web server: one loop reads and writes for all clients, threads answer whole requests."""

from __future__ import annotations

import logging
import os
import resource
import tempfile
import time
from pathlib import Path
from types import FrameType
from typing import Any

from gunicorn.workers.base import Worker
from waitress import wasyncore
from waitress.adjustments import Adjustments

from toolevals.serving.servers import Server, serve
from toolevals.serving.threads import Threads

LOOP_SECONDS = 1
# That free threads are given to end, when the process does.
THREADS_SECONDS = 1
# Kilobytes of SQLite's pages that a thread keeps for its connection. What it reads again beyond that comes from the
# system's own cache of the file, which all threads share.
CACHE_KILOBYTES = 2048
MEGABYTE = 1024 * 1024


class BufferingWorker(Worker):  # type: ignore[misc]
    """Takes a request to its end before a thread sees it, so that no client, however slow, holds a thread.

    A body is kept in memory while it is small, then in a file without a name. A request that does not arrive whole
    never reaches the application.
    """

    def init_process(self) -> None:
        """Start the process: make its place for large bodies, then serve."""
        self.servers: list[Server] = []
        super().init_process()

    def run(self) -> None:
        """Serve until asked to stop or until the parent is gone; then finish what is in hand."""
        from django.conf import settings
        from django.db.backends.signals import connection_created

        tempfile.tempdir = str(temporary_folder(settings.DATA_DIR))
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # that requests wait for a thread is no news
        self.channels: dict[int, Any] = {}
        self.dispatcher = Threads()
        self.dispatcher.set_thread_count(self.cfg.threads)
        adjustments = adjusted(
            self.cfg.threads, settings.UPLOAD_MAX_BYTES, connections_allowed(self.cfg.worker_connections)
        )
        sockets = [listener.sock for listener in self.sockets]
        connection_created.connect(cache_little)
        self.servers = [serve(self.wsgi, sock, self.channels, self.dispatcher, adjustments) for sock in sockets]
        while self.alive and os.getppid() == self.ppid:
            self._turn()
        self._finish()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop taking requests, and end when those in hand are answered."""
        super().handle_exit(sig, frame)
        for server in self.servers:
            server.pull_trigger()

    def _turn(self) -> None:
        self.notify()
        wasyncore.loop(timeout=LOOP_SECONDS, use_poll=True, map=self.channels, count=1)

    def _finish(self) -> None:
        for server in self.servers:
            server.listening_end()
        deadline = time.monotonic() + self.cfg.graceful_timeout
        while time.monotonic() < deadline and any(server.at_work() for server in self.servers):
            self._turn()
        self.dispatcher.shutdown(timeout=THREADS_SECONDS)


def cache_little(connection: Any, **_: Any) -> None:
    """Let a new connection of a thread keep few pages: there are many threads."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA cache_size=-{CACHE_KILOBYTES}")


def adjusted(threads: int, upload_bytes: int, connections: int) -> Adjustments:
    """Return the limits of a process. A body may be as large as an upload, and the form around it."""
    return Adjustments(
        threads=threads,
        max_request_body_size=upload_bytes + 16 * MEGABYTE,
        max_request_header_size=64 * 1024,
        inbuf_overflow=MEGABYTE // 8,
        outbuf_overflow=MEGABYTE,
        # An answer up to this size waits on disk for a client that reads slowly, and holds no thread.
        outbuf_high_watermark=256 * MEGABYTE,
        recv_bytes=256 * 1024,
        connection_limit=connections,
        cleanup_interval=2,
        # Seconds of silence, of a request that is arriving, an answer that is not read, or a connection kept alive.
        channel_timeout=60,
        log_socket_errors=False,
        # The application decides which proxies it believes.
        clear_untrusted_proxy_headers=False,
        ident="",
    )


def connections_allowed(wanted: int) -> int:
    """Return how many connections a process may hold: each may need two files. Raises the limit of files for that."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 4 * wanted:
        most = 4 * wanted if hard == resource.RLIM_INFINITY else min(4 * wanted, hard)
        soft = max(soft, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return min(wanted, soft // 4)


def temporary_folder(data: Path) -> Path:
    """Return the folder of files that last as long as a request: on the disk of the data, as /tmp may be memory."""
    if named := os.environ.get("TMPDIR"):
        return Path(named)
    folder = data / "temporary"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
