"""Recognise packed files by their first bytes, whatever their names."""

from __future__ import annotations

import gzip
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import SEEK_END
from typing import IO, cast

from toolevals.grading.values.problems import InvalidDocument

_MAGIC = b"\x1f\x8b"
_ZIP_MAGIC = b"PK\x03\x04"
_CHUNK = 1 << 20
# A file may unpack to so many times its size, and to so many bytes whatever its size.
MOST_TIMES = 100
ALWAYS_UNPACKED = 100_000_000
_PACKED_CHUNK = 1 << 14
_BROKEN = (EOFError, gzip.BadGzipFile, zlib.error)


class _Unpacking(gzip.GzipFile):
    """A packed file that refuses, while it is read, to unpack to more than its size allows."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(fileobj=file, mode="rb")
        self._limit = unpacked_limit(file.seek(0, SEEK_END))
        file.seek(0)

    def read(self, size: int | None = -1) -> bytes:
        return self._checked(super().read(size))

    def readline(self, size: int | None = -1) -> bytes:
        return self._checked(super().readline(size))

    def _checked(self, some: bytes) -> bytes:
        if self.tell() > self._limit:
            raise too_large(self._limit)
        return some


def too_large(limit: int) -> InvalidDocument:
    """Return the error of a packed file that unpacks to more bytes than it may."""
    return InvalidDocument.at("", f"unpacks to more than {limit:,} bytes. Send it unpacked")


def is_packed(file: IO[bytes]) -> bool:
    """Tell whether a file is packed with gzip."""
    file.seek(0)
    return file.read(len(_MAGIC)) == _MAGIC


def is_zip(file: IO[bytes]) -> bool:
    """Tell whether a file is a zip of files."""
    file.seek(0)
    return file.read(len(_ZIP_MAGIC)) == _ZIP_MAGIC


@contextmanager
def unpacked(file: IO[bytes]) -> Iterator[IO[bytes]]:
    """Give the file's content, as it comes. Raises InvalidDocument where it is broken, or grows too large."""
    packed = is_packed(file)
    file.seek(0)
    try:
        yield cast("IO[bytes]", _Unpacking(file)) if packed else file
    except _BROKEN as error:
        place = f"it is whole for the first {_readable(file):,} bytes of its content only"
        raise InvalidDocument.at("", f"is not a whole gzip file, {place}: {error}. Upload it again") from None


def _readable(file: IO[bytes]) -> int:
    """Return how many bytes of a broken file can be unpacked."""
    unpacking, size = zlib.decompressobj(zlib.MAX_WBITS | 16), 0
    file.seek(0)
    while some := file.read(_PACKED_CHUNK):
        try:
            size += len(unpacking.decompress(some))
        except zlib.error:
            break
    return size


def pieces_of(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the file's content, unpacked with gzip where it is packed. Raises InvalidDocument where it is broken."""
    with unpacked(file) as content:
        while some := content.read(_CHUNK):
            yield some


def unpacked_limit(size: int) -> int:
    """Return how much a packed file of `size` bytes may unpack to: more is a file that was made to grow."""
    return max(ALWAYS_UNPACKED, MOST_TIMES * size)


@contextmanager
def plain_copy(pieces: Iterable[bytes], limit: int) -> Iterator[IO[bytes]]:
    """Give what was packed as a file on disk, gone afterwards.

    Raises InvalidDocument where it is larger than `limit` bytes: a small file may unpack to any size.
    """
    with tempfile.TemporaryFile() as copy:
        for some in pieces:
            if copy.tell() + len(some) > limit:
                raise too_large(limit)
            copy.write(some)
        copy.seek(0)
        yield cast("IO[bytes]", copy)
