"""Set tracing up on top of the OpenTelemetry SDK: by the application's tracer provider, or by one of ours."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from toolevals.sdk.errors import SetUpError
from toolevals.sdk.tracing import Tracing, logger, trace_by
from toolevals.sdk.writing import LONGEST

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

    from toolevals.sdk.sending import SpanQueue

SERVER, TOKEN = "TOOLEVALS_URL", "TOOLEVALS_TOKEN"
SIZE = 8_192


@dataclass(slots=True)
class Instrumentation:
    """Tracing that is on. Spans that were dropped are counted; nothing is raised about them."""

    provider: TracerProvider
    _queue: SpanQueue | None = field(repr=False)
    settings: tuple[Any, ...] = field(repr=False, default=())

    @property
    def sent(self) -> int:
        """Return how many spans were sent by this process."""
        return self._queue.sent if self._queue else 0

    @property
    def dropped(self) -> int:
        """Return how many spans were dropped: the queue was full, or they were not taken."""
        return self._queue.dropped if self._queue else 0

    def flush(self, seconds: float = 5) -> bool:
        """Send what waits; return whether all of it was sent or dropped in time."""
        return self._queue.force_flush(int(seconds * 1000)) if self._queue else True

    def stop(self, seconds: float = 5) -> None:
        """Send what waits for so long, and record nothing from now on."""
        global _current  # noqa: PLW0603 (as in `instrument`)
        trace_by(None)
        if self._queue:
            self._queue.shutdown(int(seconds * 1000))
        _current = None if _current is self else _current


_current: Instrumentation | None = None


def instrument(
    server: str = "",
    token: str = "",
    *,
    agent: str = "",
    version: str = "",
    content: bool = True,
    longest: int = LONGEST,
    queue: int = SIZE,
    provider: TracerProvider | None = None,
    exporter: SpanExporter | None = None,
    send: bool = True,
) -> Instrumentation:
    """Record each call of a `@tool`, and what `agent_span` and `chat_span` are told, and send it to toolevals.

    `server` and `token` are by default the variables TOOLEVALS_URL and TOOLEVALS_TOKEN. `agent` and `version` name what
    runs. Without `content` neither arguments nor results nor messages are recorded. `queue` is how many spans wait at
    most. `send=False` leaves the sending to the application's own provider. A second call returns what the first one
    made. Raises SetUpError where `toolevals[sdk]` is not installed or there is no such address; nothing later.
    """
    global _current  # noqa: PLW0603 (one for the process, as OpenTelemetry's provider is)
    try:
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider as Provider

        from toolevals.sdk.sending import SpanQueue
    except ImportError as error:
        raise SetUpError(f"tracing needs OpenTelemetry ({error}): pip install 'toolevals[sdk]'") from None
    settings = (server, token, agent, version, content, longest, queue, provider, exporter, send)
    if _current is not None:
        if _current.settings != settings:
            logger.warning(
                "instrument() was called before, with other settings, which stay: stop() what it returned first"
            )
        return _current
    waiting = SpanQueue(exporter or _exporter(server, token), size=queue) if send else None
    existing = provider or trace.get_tracer_provider()
    if isinstance(existing, Provider):
        used = existing
    else:
        used = Provider(resource=_resource(agent, version))
        trace.set_tracer_provider(used)
    if waiting is not None:
        used.add_span_processor(waiting)
    trace_by(Tracing(used.get_tracer("toolevals.sdk"), content, longest))
    _current = Instrumentation(used, waiting, settings)
    return _current


def _resource(agent: str, version: str) -> Any:
    from opentelemetry.sdk.resources import Resource

    named = {"service.name": agent, "service.version": version}
    return Resource.create({name: value for name, value in named.items() if value})


def _exporter(server: str, token: str) -> Any:
    try:
        from opentelemetry.exporter.otlp.proto.http import Compression
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    except ImportError as error:
        raise SetUpError(f"sending needs OpenTelemetry's exporter ({error}): pip install 'toolevals[sdk]'") from None
    address = (server or os.environ.get(SERVER, "")).rstrip("/")
    try:
        parts = urlsplit(address)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise SetUpError(f"{address or 'nothing'!r} is not an address of a server: give server=, or set {SERVER}")
    secret = token or os.environ.get(TOKEN, "")
    if not secret:
        raise SetUpError(f"no token: give token=, or set {TOKEN}")
    return OTLPSpanExporter(
        endpoint=f"{address}/v1/traces",
        headers={"Authorization": f"Bearer {secret}"},
        compression=Compression.Gzip,
        timeout=10,
    )
