"""Runs a Celery worker in this process.

The command `celery worker` does the same, and loads all of Celery's other commands with it, a shell among them: 8 MB.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from celery.signals import worker_ready, worker_shutting_down
from celery.worker import state

from toolevals.celery import app
from toolevals.memory import Growth
from toolevals.serving.application import RENEW

# Of processor time in a minute: looking for work is no work.
CALM_SECONDS = 2.0
LOOK_SECONDS = 5.0


def main(name: str, processes: str, *, renews: bool = False) -> int:
    """Work until told to stop; return the exit status. Nothing is asked of other workers: the rows are the queue.

    With `renews` it ends by itself, with the status RENEW, when it has grown and nothing is to do.
    """
    renewal = Renewal()
    if renews and app.conf.worker_pool == "solo":
        worker_ready.connect(renewal.start, weak=False)
    worker = app.Worker(
        hostname=name,
        concurrency=int(processes),
        loglevel="WARNING",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()
    return RENEW if renewal.begun else worker.exitcode or 0


class Renewal:
    """Ends this worker, as a signal would, when it has grown; a task at work is done before."""

    def __init__(self) -> None:
        self.begun = False

    def start(self, **_: Any) -> None:
        """Look every few seconds, from a thread."""
        threading.Thread(target=self._wait, args=[Growth(CALM_SECONDS)], name="renewal", daemon=True).start()

    def _wait(self, growth: Growth) -> None:
        while not growth.due():
            time.sleep(LOOK_SECONDS)
        self.begun = True
        # As for a signal, without the words that a signal's handler prints.
        worker_shutting_down.send(sender=None, sig="", how="Warm", exitcode=0)
        state.should_stop = 0  # type: ignore[assignment]
