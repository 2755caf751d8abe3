"""Sets the options of the web server: `gunicorn --config python:toolevals.serving.options`.

Every option of gunicorn can be given again behind it, as `--bind`, `--workers` and `--threads`, or in
`GUNICORN_CMD_ARGS`.
"""

from __future__ import annotations

import os

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
