"""Recognise packed files by their first bytes, whatever their names."""

from __future__ import annotations

import gzip
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
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
    """Give the file's content, as it comes. Raises InvalidDocument where reading finds it broken."""
    packed = is_packed(file)
    file.seek(0)
    try:
        yield cast("IO[bytes]", gzip.GzipFile(fileobj=file, mode="rb")) if packed else file
    except _BROKEN as error:
        place = f"it is whole for the first {_readable(file):,} bytes of its content only"
        raise InvalidDocument.at("", f"is no whole gzip file, {place}: {error}. Send it again") from None


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
                raise InvalidDocument.at("", f"unpacks to more than {limit:,} bytes. Send it unpacked")
            copy.write(some)
        copy.seek(0)
        yield cast("IO[bytes]", copy)
