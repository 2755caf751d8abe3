"""Sets the options of the web server: `gunicorn --config python:toolevals.serving.options`.

Every option of gunicorn can be given again behind it, as `--bind`, `--workers` and `--threads`, or in
`GUNICORN_CMD_ARGS`.
"""

from __future__ import annotations

import os

wsgi_app = "toolevals.wsgi"
worker_class = "toolevals.serving.worker.BufferingWorker"
# A process for each core; the threads of one wait for the database, not for clients.
workers = min(4, max(2, os.cpu_count() or 1))
threads = 8
# What pages need is loaded once, before the server forks, and its processes share it.
preload_app = True
loglevel = "warning"
# Seconds after which a process whose loop does not turn is replaced. A slow client or request does not stop the loop.
timeout = 60
# Seconds that a server which is asked to stop gives to requests in hand.
graceful_timeout = 10
control_socket_disable = True
