"""Runs a process of the web server: gunicorn keeps it, waitress takes requests whole before a thread sees them."""

from __future__ import annotations

import logging
import os
import resource
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from gunicorn.workers.base import Worker
from waitress import create_server

from toolevals.json_types import JsonObject
from toolevals.serving.admission import Channel

MEGABYTE = 1024 * 1024


class WaitressWorker(Worker):  # type: ignore[misc]
    """Serves with waitress until asked to stop or until gunicorn is gone; requests in hand have 5 seconds to end."""

    alive: bool

    def run(self) -> None:
        """Serve."""
        from django.conf import settings

        tempfile.tempdir = str(temporary_folder(settings.DATA_DIR))
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # that requests wait for a thread is no news
        raise_limit_of_files(4 * self.cfg.worker_connections)
        threading.Thread(target=self._live, daemon=True).start()
        limits = limits_of(self.cfg.threads, settings.UPLOAD_MAX_BYTES, self.cfg.worker_connections)
        server_on(self.wsgi, [listener.sock for listener in self.sockets], {}, **limits).run()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End the loop, once."""
        if self.alive:
            self.alive = False
            sys.exit(0)

    def _live(self) -> None:
        """Tell gunicorn that this process runs, for as long as it is there itself."""
        while os.getppid() == self.ppid:
            self.notify()
            time.sleep(1)
        os.kill(os.getpid(), signal.SIGTERM)


def server_on(
    application: Callable[..., Any], sockets: Sequence[socket.socket], channels: dict[int, Any], **limits: Any
) -> Any:
    """Return a server of waitress on sockets that are bound already, which admits large bodies of known people only."""
    server = create_server(application, channels, sockets=sockets, **limits)
    for listener in channels.values():
        listener.channel_class = Channel
    return server


def limits_of(threads: int, upload_bytes: int, connections: int) -> JsonObject:
    """Return the limits of a process, in waitress's words. A body may be an upload, and the form around it."""
    return {
        "threads": threads,
        "connection_limit": connections,
        "max_request_body_size": upload_bytes + 16 * MEGABYTE,
        "max_request_header_size": 64 * 1024,
        "inbuf_overflow": MEGABYTE // 8,
        "outbuf_overflow": MEGABYTE,
        # An answer up to this size waits on disk for a client that reads slowly, and holds no thread.
        "outbuf_high_watermark": 256 * MEGABYTE,
        "recv_bytes": 256 * 1024,
        "asyncore_use_poll": True,
        # Seconds of silence, of a request that is arriving, an answer that is not read, or a connection kept alive.
        "channel_timeout": 60,
        "cleanup_interval": 2,
        "log_socket_errors": False,
        # The application decides which proxies it believes.
        "clear_untrusted_proxy_headers": False,
        "ident": "",
    }


def raise_limit_of_files(wanted: int) -> None:
    """Let this process open so many files where the system allows it: each connection may need two."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted and (hard == resource.RLIM_INFINITY or hard >= wanted):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def temporary_folder(data: Path) -> Path:
    """Return the folder of files that last as long as a request: on the disk of the data, as /tmp may be memory."""
    if named := os.environ.get("TMPDIR"):
        return Path(named)
    folder = data / "temporary"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
