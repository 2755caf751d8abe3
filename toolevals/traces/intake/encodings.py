"""Reads OTLP's two encodings as the JSON form, and answers in the form that the request had.

Source: https://opentelemetry.io/docs/specs/otlp/. The generic reader of protobuf's JSON takes ids for base64, while
OTLP writes them in hexadecimal digits: so neither direction uses it.

The body of a request is taken whole, or refused: where it is too large, or where a project's rate is spent.
"""

from __future__ import annotations

import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final
from uuid import UUID

import orjson
from django.conf import settings
from django.http import HttpRequest
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from toolevals.grading.reading.telemetry.otlp_protobuf import logs_in_json, traces_in_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonObject

PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"
CONTENT_TYPES: Final = (PROTOBUF, JSON)


@dataclass(frozen=True, slots=True)
class Signal:
    """Says what one address takes: names in OTLP's JSON for its export, from the outside in, and protobuf's messages.

    `rejected` is what counts the items that are not taken in an answer, in JSON's form and in protobuf's.
    """

    holders: str
    scopes: str
    items: str
    rejected: tuple[str, str]
    request: Any
    response: Any


def document_of(body: bytes, content_type: str, signal: Signal | None = None) -> JsonObject:
    """Return an export as the JSON form of OTLP, of traces unless said otherwise.

    Raises InvalidDocument where the body is none.
    """
    read = _of_protobuf if content_type == PROTOBUF else _of_json
    return read(body, signal or TRACES)


def _of_json(body: bytes, signal: Signal) -> JsonObject:
    try:
        document = orjson.loads(body)
    except ValueError as error:
        raise InvalidDocument.at("", f"The body cannot be read as JSON: {error}") from None
    if not isinstance(document, dict):
        raise InvalidDocument.at("", f"The body is not an object with {signal.holders}.")
    wrong = signal.holders.replace("S", "_s").replace("L", "_l")
    if wrong in document:
        raise InvalidDocument.at(f"/{wrong}", f"OTLP writes its keys in camel case in JSON: {signal.holders}.")
    return document


def _of_protobuf(body: bytes, signal: Signal) -> JsonObject:
    message = message_of(body, signal)
    return logs_in_json(message) if signal is LOGS else traces_in_json(message)


def message_of(body: bytes, signal: Signal | None = None) -> Any:
    """Return an export as the message of protobuf that it is, of traces unless said otherwise.

    Raises InvalidDocument where the body is none.
    """
    request = (signal or TRACES).request
    message = request()
    try:
        message.ParseFromString(body)
    except (DecodeError, RecursionError) as error:
        raise InvalidDocument.at("", f"The body cannot be read as an {request.DESCRIPTOR.name}: {error}") from None
    return message


def answer(content_type: str, *, rejected: int = 0, message: str = "", signal: Signal | None = None) -> bytes:
    """Return the answer to an export, of traces unless said otherwise.

    It speaks of partial success only where something was rejected.
    """
    signal = signal or TRACES
    in_json, in_protobuf = signal.rejected
    if content_type == JSON:
        partial = {"partialSuccess": {in_json: str(rejected), "errorMessage": message}}
        return orjson.dumps(partial if rejected or message else {})
    response = signal.response()
    if rejected or message:
        setattr(response.partial_success, in_protobuf, rejected)
        response.partial_success.error_message = message
    return bytes(response.SerializeToString())


def failure(content_type: str, *, code: int, message: str) -> bytes:
    """Return a google.rpc.Status; `code` is one of gRPC's."""
    if content_type == JSON:
        return orjson.dumps({"code": code, "message": message})
    # Two fields: an integer, and text with its length. None of our packages has the message.
    text = message.encode()
    return bytes((0x08, code)) + delimited(2, text)


def delimited(number: int, content: bytes) -> bytes:
    """Return a text, or a message, as the field of a message of protobuf: its number up to 15, its length, itself."""
    return bytes((number << 3 | 2,)) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*found, number))


TRACES: Final = Signal(
    "resourceSpans",
    "scopeSpans",
    "spans",
    ("rejectedSpans", "rejected_spans"),
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
LOGS: Final = Signal(
    "resourceLogs",
    "scopeLogs",
    "logRecords",
    ("rejectedLogRecords", "rejected_log_records"),
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)


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
                raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "The server is busy. Try again later.", 1)
            self._at_work += 1
        try:
            yield
        finally:
            with self._lock:
                self._at_work -= 1


RATES = Rates()
