"""Adapts Celery's consumer of messages to workers of several versions, in an update of one after the other."""

from __future__ import annotations

import logging
from typing import Any

from celery.worker.consumer import Consumer as CeleryConsumer

from toolevals.workspace.jobs.turns import leave_unknown, name_unknown

logger = logging.getLogger(__name__)


class Consumer(CeleryConsumer):
    """Leaves what names a task that it does not know for others: its batch is announced again after a while.

    Celery writes a traceback for each such message.
    """

    def on_unknown_task(self, body: Any, message: Any, exc: Exception) -> None:
        """Drop a message."""
        leave_unknown([message.headers["task"]])
        name_unknown()
        connection_errors: Any = vars(self)["connection_errors"]
        message.reject_log_error(logger, connection_errors)
