"""Send ended spans from a bounded queue by a thread of its own: what finds no place, or cannot be sent, is counted.

OpenTelemetry's own processor logs each span that it drops; here the first is logged, and the number at the end.
"""

from __future__ import annotations

import logging
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

from opentelemetry import context
from opentelemetry.context import Context, attach, detach
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from toolevals.sdk.tracing import logger

BATCH = 512
# The exporters of OpenTelemetry log every failure; what this module's thread does is told once by itself.
_EXPORTERS = "opentelemetry.exporter.otlp.proto.http.trace_exporter"


class SpanQueue(SpanProcessor):
    """Keeps at most `size` ended spans until they are sent, `delay` seconds after the first at the latest."""

    def __init__(self, exporter: SpanExporter, *, size: int, delay: float = 2.0) -> None:
        if size < 1:
            raise ValueError("a queue has room for one span at least")
        self._exporter = exporter
        self._size = size
        self._delay = delay
        self._closed = False
        self.sent = 0
        self.dropped = 0
        self._is_told = False
        # Instrumentations of HTTP make no spans of the sending.
        keys = (getattr(context, "_SUPPRESS_INSTRUMENTATION_KEY", ""), "suppress_instrumentation")
        self._suppressed = Context(dict.fromkeys(keys, True))
        self._begin()
        reference = weakref.WeakMethod(self._begin)
        os.register_at_fork(after_in_child=lambda: (begin := reference()) and begin())

    def _begin(self) -> None:
        """Begin with an empty queue and a thread; in a forked child again, because its parent sends what was there."""
        self._queue: deque[ReadableSpan] = deque()
        # A span may end while another is being kept: the collector of garbage closes generators anywhere.
        self._lock = threading.RLock()
        self._wake = threading.Condition(self._lock)
        self._busy = 0
        self._flushing = False
        self._thread = threading.Thread(target=self._work, name="toolevals-spans", daemon=True)
        logging.getLogger(_EXPORTERS).addFilter(_not_from(self._thread.name))
        self._thread.start()

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Do nothing: a span is kept when it has ended."""

    def on_end(self, span: ReadableSpan) -> None:
        """Keep a span; where the queue is full, count it as dropped."""
        if not (span.context and span.context.trace_flags.sampled):
            return
        with self._lock:
            has_place = not self._closed and len(self._queue) < self._size
            if has_place:
                self._queue.append(span)
                if len(self._queue) == BATCH:
                    self._wake.notify_all()
        if not has_place:
            self._drop(1, "the queue is full")

    def force_flush(self, timeout_millis: int = 5_000) -> bool:
        """Send what waits; return whether all of it was sent or dropped in time."""
        until = time.monotonic() + timeout_millis / 1000
        with self._lock:
            self._flushing = True
            self._wake.notify_all()
            while (self._queue or self._busy) and self._thread.is_alive() and (left := until - time.monotonic()) > 0:
                self._wake.wait(left)
            return not self._queue and not self._busy

    def shutdown(self, timeout_millis: int = 3_000) -> None:
        """Send what waits for so long, drop the rest, and say how many were dropped in all."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._wake.notify_all()
        self._thread.join(timeout_millis / 1000)
        with self._lock:
            left = len(self._queue)
            self._queue.clear()
        try:
            # Ends what waits to try again.
            self._exporter.shutdown()
        except Exception as error:  # noqa: BLE001 - nothing can be done about it any more
            logger.debug("the exporter did not end: %s", error)
        self._thread.join(1)
        if left:
            self._drop(left, "the process ended")
        if self.dropped:
            logger.warning("%d spans were dropped in all, %d were sent", self.dropped, self.sent)

    def _work(self) -> None:
        token = attach(self._suppressed)
        while batch := self._batch():
            try:
                was_sent = self._exporter.export(batch) is SpanExportResult.SUCCESS
                words = "toolevals did not take them"
            except Exception as error:  # noqa: BLE001 - an exporter of any kind
                was_sent, words = False, f"{type(error).__name__}: {error}"
            if was_sent:
                self.sent += len(batch)
            else:
                self._drop(len(batch), words)
            with self._lock:
                self._busy = 0
                self._wake.notify_all()
        detach(token)

    def _batch(self) -> list[ReadableSpan]:
        """Return the next spans to send, when they are many or have waited long; nothing at the end."""
        with self._lock:
            while not self._queue and not self._closed:
                self._flushing = False
                self._wake.wait()
            if not (self._closed or self._flushing or len(self._queue) >= BATCH):
                self._wake.wait_for(lambda: self._closed or self._flushing or len(self._queue) >= BATCH, self._delay)
            batch = [self._queue.popleft() for _ in range(min(BATCH, len(self._queue)))]
            self._busy = len(batch)
            return batch

    def _drop(self, count: int, words: str) -> None:
        with self._lock:
            self.dropped += count
            is_first, self._is_told = not self._is_told, True
        if is_first:
            logger.warning("spans are dropped: %s. The agent is not affected; further ones are counted silently", words)


def _not_from(thread: str) -> Callable[[logging.LogRecord], bool]:
    def passes(record: Any) -> bool:
        return bool(record.threadName != thread)

    return passes
