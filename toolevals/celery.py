"""Defines the Celery app. Tasks take ids and call one service; the rows, not the messages, are the queue."""

from __future__ import annotations

import os
import warnings
from typing import Any

from celery import Celery
from celery.exceptions import SecurityWarning
from celery.signals import (
    after_setup_logger,
    after_setup_task_logger,
    worker_init,
    worker_process_init,
    worker_ready,
    worker_shutting_down,
)

from toolevals import life

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolevals.settings")
# A worker that checked the application would load every page of it, 25 MB; commands check it.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

# The operator chose the account: in a container it is often root, and a worker runs no code that messages bring.
warnings.simplefilter("ignore", SecurityWarning)

# Of a worker and the processes that it forks, from 0 (as any other process) to 19 (only where no one else works).
NICENESS = 5

app = Celery("toolevals")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
def others_first(**_: Any) -> None:
    """Let the web server and the database go first where they share a machine: people and senders wait for those."""
    os.nice(NICENESS)


@after_setup_logger.connect
@after_setup_task_logger.connect
def log_as_the_settings_say(logger: Any, **_: Any) -> None:
    """Have a worker's log take the form of the settings, and say in a line that the database is away."""
    from django.conf import settings

    from toolevals.workspace.log_filters import OutageFilter
    from toolevals.workspace.monitoring.json_log import JsonFormatter

    for handler in logger.handlers:
        handler.addFilter(OutageFilter())
        if settings.LOG_FORMAT == "json":
            handler.setFormatter(JsonFormatter())


@worker_process_init.connect
def end_when_still(**_: Any) -> None:
    """Let each process at work end when it stands still for longer than the lease of a batch."""
    from django.conf import settings

    life.end_when_still(settings.BATCH_LEASE_SECONDS)


@worker_ready.connect
def sweeper_start(sender: Any, **_: Any) -> None:
    """Every worker sweeps, in its main process."""
    from toolevals.workspace.jobs.sweeper import Sweeper

    sweeper = Sweeper(sender.app.amqp.queues.consume_from)
    sweeper.start()
    worker_shutting_down.connect(lambda **_: sweeper.stop(), weak=False)
