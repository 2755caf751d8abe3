"""Takes a request's body only as a whole: one that ends early or is too large is refused."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from http import HTTPStatus
from typing import IO, Any

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from toolevals.workspace.errors import refused
from toolevals.workspace.uploads.services import require_room

CHUNK = 1 << 16
# Beside the file, a form holds boundaries and fields.
FORM_BYTES = 1 << 20
# So much of a body that is refused is still read, so that its sender comes to read the answer.
DRAINED_BYTES = 64 << 20
_BOUNDARY = re.compile(r'multipart/form-data;.*\bboundary="?([^";]+)"?', re.IGNORECASE)


class BodyCutShort(BadRequest):
    """The body ended before its time. Nothing of it may be kept."""


class BodyMiddleware:
    """Lets views read whole bodies only.

    A body shorter than its Content-Length, or in chunks without the last one, raises `BodyCutShort` in the code that
    reads it. A chunked body is gathered once it is known who sends it. What is too large, or finds no room on the disk,
    is answered without being read.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        length = _length(request)
        if length > settings.UPLOAD_MAX_BYTES + FORM_BYTES:
            _drain(request)
            return _too_large(request, length)
        if length > settings.FILE_UPLOAD_MAX_MEMORY_SIZE:
            require_room(length)
        if length:
            vars(request)["_stream"] = _Whole(_stream(request), length, _last(request))
        response = self.get_response(request)
        if response.status_code >= HTTPStatus.BAD_REQUEST:
            # What had arrived goes at once, not when the last that knows of it is forgotten.
            for handler in vars(request).get("_upload_handlers", ()):
                handler.upload_interrupted()
        return response

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> HttpResponseBase | None:
        """Gather a chunked body; answer in the view's stead where it is too large or no one can tell its end."""
        if "chunked" not in request.META.get("HTTP_TRANSFER_ENCODING", "").lower() or _length(request):
            return None
        if not request.META.get("wsgi.input_terminated"):
            return refused(request, HTTPStatus.LENGTH_REQUIRED, "Send the body with its length, in Content-Length.")
        body = tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR)  # noqa: SIM115 - the request closes it
        size = _gather(request.META["wsgi.input"], body)
        if size > settings.UPLOAD_MAX_BYTES + FORM_BYTES:
            body.close()
            return _too_large(request, size)
        request.META["CONTENT_LENGTH"] = str(size)
        vars(request)["_stream"] = _Whole(body, size, _last(request))
        return None


class _Whole:
    """A stream that must give as many bytes as it should, and end as a form does where it is one."""

    def __init__(self, stream: Any, length: int, last: bytes) -> None:
        self._stream, self._length, self._last = stream, length, last
        self._read, self._tail = 0, b""

    def read(self, size: int | None = -1) -> bytes:
        """Return bytes as a file does. Raises `BodyCutShort` at an end that comes early."""
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(CHUNK), b""))
        return self._checked(lambda: self._stream.read(size), size)

    def readline(self, size: int | None = -1) -> bytes:
        """Return a line as a file does. Raises as `read`."""
        wanted = -1 if size is None else size
        return self._checked(lambda: self._stream.readline(wanted), wanted)

    def close(self) -> None:
        """Close what is read."""
        self._stream.close()

    def _checked(self, read: Callable[[], bytes], size: int) -> bytes:
        try:
            some = read()
        except OSError as error:
            raise self._cut_short() from error
        self._read += len(some)
        if self._last:
            self._tail = (self._tail + some)[-len(self._last) - CHUNK :]
        if not some and size and self._read < self._length:
            raise self._cut_short()
        if self._read >= self._length and self._last not in self._tail:
            raise BodyCutShort("The form ended before its last part was whole. Nothing was saved: send it again.")
        return some

    def _cut_short(self) -> BodyCutShort:
        return BodyCutShort(
            f"The body ended after {self._read:,} of {self._length:,} bytes. Nothing was saved: send it again."
        )


def _gather(stream: Any, body: IO[bytes]) -> int:
    """Copy a chunked body and return its size; stop beyond the limit. Raises `BodyCutShort`."""
    size = 0
    try:
        while size <= settings.UPLOAD_MAX_BYTES + FORM_BYTES and (some := stream.read(CHUNK)):
            require_room(len(some))
            body.write(some)
            size += len(some)
    except OSError as error:
        if error.errno:
            raise
        raise BodyCutShort(
            f"The body ended after {size:,} bytes, without its last chunk. Nothing was saved: send it again."
        ) from error
    body.seek(0)
    return size


def _drain(request: HttpRequest) -> None:
    left = DRAINED_BYTES
    stream = _stream(request)
    try:
        while left > 0 and (some := stream.read(CHUNK)):
            left -= len(some)
    except OSError:
        return


def _too_large(request: HttpRequest, length: int) -> HttpResponse:
    limit = settings.UPLOAD_MAX_BYTES
    sentence = f"The body has {length:,} bytes or more; the limit for a file is {limit:,}."
    return refused(request, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, sentence)


def _stream(request: HttpRequest) -> Any:
    return vars(request).get("_stream")


def _length(request: HttpRequest) -> int:
    length = request.META.get("CONTENT_LENGTH") or "0"
    return int(length) if length.isdigit() else 0


def _last(request: HttpRequest) -> bytes:
    """Return what the body must hold near its end: the closing boundary of a form with files, else nothing."""
    found = _BOUNDARY.match(request.META.get("CONTENT_TYPE", ""))
    return f"--{found[1].strip()}--".encode() if found else b""
