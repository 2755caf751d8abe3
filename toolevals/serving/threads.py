"""Gives requests to threads: to the one that was free last, so that few of them hold a connection to the database."""

from __future__ import annotations

import threading
from typing import Any

from django.db import connections
from waitress.task import ThreadedTaskDispatcher

# Seconds without a request after which a thread closes its connection. On SQLite each takes megabytes of the process.
IDLE_SECONDS = 30.0


class Threads(ThreadedTaskDispatcher):  # type: ignore[misc]
    """Wakes the thread that was free last. Those that no one needs for a while close their connections."""

    def __init__(self, idle_seconds: float = IDLE_SECONDS) -> None:
        super().__init__()
        self._idle_seconds = idle_seconds
        # A condition of each free thread, all on the one lock; the last is the next to wake.
        self._free: list[threading.Condition] = []

    def handler_thread(self, thread_no: int) -> None:
        """Do what is queued until told to stop."""
        wake = threading.Condition(self.lock)
        seconds: float | None = self._idle_seconds
        while True:
            with self.lock:
                woken = self.queue or self.stop_count or self._wait(wake, seconds)
                if self.stop_count:
                    self.active_count -= 1
                    self.stop_count -= 1
                    self.threads.discard(thread_no)
                    self.thread_exit_cv.notify()
                    break
                task = self.queue.popleft() if self.queue else None
            if task is not None:
                self._do(task)
                seconds = self._idle_seconds
            elif not woken:
                connections.close_all()
                seconds = None
        connections.close_all()

    def add_task(self, task: Any) -> None:
        """Queue a task, and wake a thread for it."""
        super().add_task(task)
        with self.lock:
            if self.queue and self._free:
                self._free.pop().notify()

    def set_thread_count(self, count: int) -> None:
        """Start threads, or tell some to stop, so that there are as many as said."""
        super().set_thread_count(count)
        with self.lock:
            for wake in self._free[: self.stop_count]:
                wake.notify()

    def _wait(self, wake: threading.Condition, seconds: float | None) -> bool:
        """Wait to be woken, the lock held before and after; return whether it happened in time."""
        self.active_count -= 1
        self._free.append(wake)
        woken = wake.wait(seconds)
        if wake in self._free:
            self._free.remove(wake)
        self.active_count += 1
        return woken

    def _do(self, task: Any) -> None:
        try:
            task.service()
        except BaseException:
            self.logger.exception("Exception when servicing %r", task)
