"""Files that are packed with gzip: told by their first bytes, whatever they are called."""

from __future__ import annotations

import gzip
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, cast

from toolevals.grading.problems import InvalidDocument

_MAGIC = b"\x1f\x8b"
_CHUNK = 1 << 20
_BROKEN = (EOFError, gzip.BadGzipFile, zlib.error)


def is_packed(file: IO[bytes]) -> bool:
    """Tell whether a file is packed."""
    file.seek(0)
    return file.read(2) == _MAGIC


@contextmanager
def unpacked(file: IO[bytes]) -> Iterator[IO[bytes]]:
    """Give the file's content, as it comes. Raises InvalidDocument where reading finds it broken."""
    packed = is_packed(file)
    file.seek(0)
    try:
        yield cast("IO[bytes]", gzip.GzipFile(fileobj=file, mode="rb")) if packed else file
    except _BROKEN as error:
        raise InvalidDocument.at("", f"is no whole gzip file: {error}") from None


@contextmanager
def plain_copy(file: IO[bytes], limit: int) -> Iterator[IO[bytes]]:
    """Give a packed file's content as a file on disk, gone afterwards.

    Raises InvalidDocument where it is broken, or is larger than `limit` bytes: a small file may unpack to any size.
    """
    with tempfile.TemporaryFile() as copy:
        with unpacked(file) as content:
            while some := content.read(_CHUNK):
                if copy.tell() + len(some) > limit:
                    raise InvalidDocument.at("", f"unpacks to more than {limit:,} bytes")
                copy.write(some)
        copy.seek(0)
        yield cast("IO[bytes]", copy)
