"""Limit the size of answers: one limit for everything that is asked outside, counted while it streams.

What comes is counted as it is sent and as it unpacks, so that a small answer cannot become a large one. It is unpacked
here, in pieces, and the reader of the answer gets it plain.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import AsyncIterator, Callable, Iterator

import httpx2

# Of one answer, packed and unpacked. A megabyte of text is more than any model writes in a turn.
ANSWER_BYTES = 16 * 1024 * 1024
# After which an answer that is still coming is given up.
ANSWER_SECONDS = 900.0
# What we say that we can unpack.
ENCODINGS = "gzip, deflate"
_PIECE = 64 * 1024
_GZIP = zlib.MAX_WBITS | 16


class AnswerRefusedError(Exception):
    """More was answered than is taken, or in a form that is not read. Asking again is useless."""


def too_long(what: str = "The answer") -> AnswerRefusedError:
    """Return the error for what is longer than the limit."""
    return AnswerRefusedError(f"{what} is longer than {ANSWER_BYTES:,} bytes, which is the most that is taken.")


class Measure:
    """Counts one answer, and unpacks it."""

    def __init__(self, encoding: str, *, seconds: float | None = ANSWER_SECONDS) -> None:
        """Take the header's `encoding`. Raises AnswerRefusedError for what is not read."""
        self._unpack = _unpacker(encoding)
        self._came = self._made = 0
        self._until = None if seconds is None else time.monotonic() + seconds

    def taken(self, part: bytes) -> Iterator[bytes]:
        """Yield what a part of the answer holds. Raises AnswerRefusedError and DecodingError."""
        self._came += len(part)
        if self._came > ANSWER_BYTES:
            raise too_long()
        if self._until is not None and time.monotonic() > self._until:
            raise AnswerRefusedError(f"The answer did not end within {ANSWER_SECONDS:,.0f} seconds.")
        for piece in (part,) if self._unpack is None else self._unpack.pieces(part):
            self._made += len(piece)
            if self._made > ANSWER_BYTES:
                raise too_long("The answer, unpacked,")
            yield piece

    def end(self) -> None:
        """Find the answer whole. Raises DecodingError."""
        if self._came and self._unpack is not None and not self._unpack.is_whole:
            raise httpx2.DecodingError("The answer ends before what is packed in it does.")


class LimitedStream(httpx2.SyncByteStream):
    """The body of an answer, counted and unpacked."""

    def __init__(self, stream: httpx2.SyncByteStream, measure: Measure) -> None:
        self._stream = stream
        self._measure = measure

    def __iter__(self) -> Iterator[bytes]:
        for part in self._stream:
            yield from self._measure.taken(part)
        self._measure.end()

    def close(self) -> None:
        self._stream.close()


class AsyncLimitedStream(httpx2.AsyncByteStream):
    """The same, for callers that do not wait."""

    def __init__(
        self, stream: httpx2.AsyncByteStream, measure: Measure, note: Callable[[AnswerRefusedError], None]
    ) -> None:
        """Take the words on a refusal that the reader does not get."""
        self._stream = stream
        self._measure = measure
        self._note = note

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for part in self._stream:
                for piece in self._measure.taken(part):
                    yield piece
        except AnswerRefusedError as error:
            self._note(error)
            raise
        self._measure.end()

    async def aclose(self) -> None:
        await self._stream.aclose()


def plain_headers(headers: httpx2.Headers) -> httpx2.Headers:
    """Return the headers of an answer that is no longer packed."""
    kept = headers.copy()
    if kept.pop("content-encoding", ""):
        kept.pop("content-length", None)
    return kept


class _Unpacker:
    """Unpacks gzip, zlib or bare deflate, a piece at a time."""

    def __init__(self, bits: int) -> None:
        self._bits = bits
        self._zlib = zlib.decompressobj(bits)
        self._is_first = True

    @property
    def is_whole(self) -> bool:
        return self._zlib.eof

    def pieces(self, part: bytes) -> Iterator[bytes]:
        while part:
            if self._zlib.eof:
                if self._bits != _GZIP:
                    return
                # Several packed one behind the other are one.
                self._zlib = zlib.decompressobj(self._bits)
            piece = self._some(part)
            part = self._zlib.unconsumed_tail or self._zlib.unused_data
            if piece:
                yield piece

    def _some(self, part: bytes) -> bytes:
        was_first, self._is_first = self._is_first, False
        try:
            return self._zlib.decompress(part, _PIECE)
        except zlib.error as error:
            if was_first and self._bits == zlib.MAX_WBITS:
                # Some send deflate bare, without the header of zlib.
                self._bits = -zlib.MAX_WBITS
                self._zlib = zlib.decompressobj(self._bits)
                return self._some(part)
            raise httpx2.DecodingError(f"The answer cannot be unpacked: {error}") from None


_BITS = {"gzip": _GZIP, "x-gzip": _GZIP, "deflate": zlib.MAX_WBITS}


def _unpacker(encoding: str) -> _Unpacker | None:
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return None
    if name not in _BITS:
        raise AnswerRefusedError(f"The answer is packed as {name[:40]!r}; {ENCODINGS} are read.")
    return _Unpacker(_BITS[name])
