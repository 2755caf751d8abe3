"""Runs a Celery worker in this process.

The command `celery worker` does the same, and loads all of Celery's other commands with it, a shell among them: 8 MB.
"""

from __future__ import annotations

from toolevals.celery import app


def main(name: str, processes: str) -> int:
    """Work until told to stop; return the exit status. Nothing is asked of other workers: the rows are the queue."""
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
    return worker.exitcode or 0
