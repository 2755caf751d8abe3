"""Sets the options of the web server: `gunicorn --config python:toolevals.serving.options`.

Every option of gunicorn can be given again behind it, as `--bind`, `--workers` and `--threads`, or in
`GUNICORN_CMD_ARGS`.
"""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path
from typing import Any

wsgi_app = "toolevals.wsgi"
worker_class = "toolevals.serving.worker.WaitressWorker"
# A process for each core; the threads of one wait for the database, not for clients.
workers = min(4, max(2, os.cpu_count() or 1))
threads = 8
# What pages need is loaded once, before the server forks, and its processes share it.
preload_app = True
loglevel = "warning"
# Seconds after which a process that stands still is replaced. Slow clients and requests do not stop it.
timeout = 60
# Seconds after which a process that is asked to stop is killed; requests in hand have 5.
graceful_timeout = 10
control_socket_disable = True


def on_starting(server: Any) -> None:
    """Give the processes a folder in which their counts of requests add up, and the log its form."""
    from django.conf import settings

    from toolevals.serving.worker import temporary_folder
    from toolevals.workspace.monitoring.json_log import JsonFormatter

    if settings.LOG_FORMAT == "json":
        for handler in server.log.error_log.handlers:
            handler.setFormatter(JsonFormatter())
    parent, host = temporary_folder(settings.DATA_DIR), socket.gethostname()
    for left in parent.glob(f"requests-{host}-*"):
        if not _runs(int(left.name.rpartition("-")[2])):
            shutil.rmtree(left, ignore_errors=True)
    folder = parent / f"requests-{host}-{os.getpid()}"
    folder.mkdir(mode=0o700)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
    # Loaded before the processes are forked, which share it.
    import toolevals.workspace.monitoring.request_counts  # noqa: F401


def on_exit(server: Any) -> None:
    """Take the folder away."""
    if folder := os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        shutil.rmtree(Path(folder), ignore_errors=True)


def _runs(process: int) -> bool:
    """Return whether another process has this number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return process != os.getpid()
