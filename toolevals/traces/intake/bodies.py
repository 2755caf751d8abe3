"""Takes the body of a request whole, or refuses it: where it is too large, or where a project's rate is spent."""

from __future__ import annotations

import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest

from toolevals.traces.intake.encodings import CONTENT_TYPES, JSON, PROTOBUF

CHUNK = 1 << 16
_GZIP = 16 + zlib.MAX_WBITS


class Refused(Exception):  # noqa: N818 - an answer
    """A request that is not taken: a status of HTTP, a sentence, and the seconds after which it may come again."""

    def __init__(self, status: HTTPStatus, sentence: str, retry_after: int | None = None) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.retry_after = status, sentence, retry_after


def content_type_of(request: HttpRequest) -> str:
    """Return the encoding of a request. Raises `Refused`."""
    if request.content_type not in CONTENT_TYPES:
        raise Refused(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"Send {PROTOBUF} or {JSON}, not {request.content_type!r:.80}."
        )
    return str(request.content_type)


def body_of(request: HttpRequest) -> bytes:
    """Return the body as it was before it was packed. Raises `Refused`."""
    packing = request.headers.get("Content-Encoding", "identity").strip().lower() or "identity"
    if packing not in ("gzip", "identity"):
        raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Send the body packed with gzip, or as it is.")
    length = request.META.get("CONTENT_LENGTH") or "0"
    if int(length) > settings.TRACES_MAX_BYTES:
        raise _too_large("The body", settings.TRACES_MAX_BYTES)
    chunks = iter(lambda: request.read(CHUNK), b"")
    return b"".join(_unpacked(chunks) if packing == "gzip" else chunks)


def _unpacked(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Unpack piece by piece: a small body that would grow without end is refused when it passes the limit."""
    packed, size = zlib.decompressobj(_GZIP), 0
    try:
        for chunk in chunks:
            rest = chunk
            while rest:
                some = packed.decompress(rest, CHUNK)
                size += len(some)
                if size > settings.TRACES_MAX_UNPACKED_BYTES:
                    raise _too_large("The unpacked body", settings.TRACES_MAX_UNPACKED_BYTES)
                yield some
                rest = packed.unconsumed_tail
                if packed.eof and (rest := packed.unused_data):
                    # Packed in several members, as some senders do.
                    packed = zlib.decompressobj(_GZIP)
        yield packed.flush()
    except zlib.error as error:
        raise Refused(HTTPStatus.BAD_REQUEST, f"The body cannot be unpacked as gzip: {error}.") from None
    if not packed.eof:
        raise Refused(HTTPStatus.BAD_REQUEST, "The body ends before the end of its gzip.")


def _too_large(what: str, limit: int) -> Refused:
    return Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"{what} is larger than {limit:,} bytes. Send smaller batches.")


# Seconds of the rate that may come at once, after a pause.
BURST_SECONDS = 10.0


class Rates:
    """A bucket for each project that fills at the limit and is emptied by what comes, and the batches at work.

    A process counts for itself: each has its share of the limit. Nothing is lost when it is refused, since senders
    keep what was not acknowledged and send it again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._buckets: dict[UUID, tuple[float, float]] = {}
        self._at_work = 0

    def require(self, project: UUID, now: float | None = None) -> None:
        """Raise `Refused` (429) where a project has sent more than its rate."""
        at = time.monotonic() if now is None else now
        with self._lock:
            level = self._level(project, at)
        if level <= 0:
            seconds = max(1, round(-level / settings.TRACES_SPANS_PER_SECOND) + 1)
            raise Refused(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"The project sends more than {settings.TRACES_SPANS_PER_SECOND:,} spans a second.",
                seconds,
            )

    def note(self, project: UUID, spans: int, now: float | None = None) -> None:
        """Count spans that have come."""
        at = time.monotonic() if now is None else now
        with self._lock:
            self._buckets[project] = (self._level(project, at) - spans, at)

    def _level(self, project: UUID, at: float) -> float:
        rate = float(settings.TRACES_SPANS_PER_SECOND)
        level, since = self._buckets.get(project, (rate * BURST_SECONDS, at))
        return min(rate * BURST_SECONDS, level + (at - since) * rate)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Hold one of the places of this process. Raises `Refused` (503) where none is free."""
        with self._lock:
            if self._at_work >= settings.TRACES_AT_ONCE:
                raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "The server takes other batches at the moment.", 1)
            self._at_work += 1
        try:
            yield
        finally:
            with self._lock:
                self._at_work -= 1


RATES = Rates()
