"""The Celery app. Tasks take ids and call one service; the rows, not the messages, are the queue."""

from __future__ import annotations

import gc
import os
from typing import Any

from celery import Celery
from celery.signals import worker_process_init, worker_ready, worker_shutting_down

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolevals.settings")

app = Celery("toolevals")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


# New objects between two searches for garbage in cycles; Python's own is 700. A batch makes many that live to its end.
OBJECTS_BETWEEN_SEARCHES = 50_000


@worker_process_init.connect
def garbage_seldom(**_: Any) -> None:
    """Seldom search for garbage in cycles, and never in what was loaded: else it takes a third of a grading's time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(OBJECTS_BETWEEN_SEARCHES, 20, 20)


@worker_ready.connect
def sweeper_start(**_: Any) -> None:
    """Every worker sweeps, in its main process."""
    from toolevals.workspace.jobs.sweeper import Sweeper

    sweeper = Sweeper()
    sweeper.start()
    worker_shutting_down.connect(lambda **_: sweeper.stop(), weak=False)
