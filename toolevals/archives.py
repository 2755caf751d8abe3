"""Tell what a zip that someone sends may be, and its files, read in memory and never onto a disk."""

from __future__ import annotations

import io
import struct
import sys
import zipfile
import zlib
from os import SEEK_CUR

from toolevals.grading.values.problems import InvalidDocument

# What reading one raises that is damaged, cut short, needs a password (RuntimeError) or is packed in a way that is not
# known here (NotImplementedError).
UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
MAGIC = b"PK\x03\x04"
# What systems add to archives of their own accord.
_JUNK = ("__MACOSX/", ".DS_Store")

_ZSTANDARD = 93
# A member's own header in the zip: its length without name and extra field, and where their lengths stand.
_HEADER = struct.Struct("<26xHH")


def zip_member(packed: zipfile.ZipFile, name: str) -> bytes:
    """Return a member of a zip, also of one that is packed with Zstandard, which Python reads from 3.14 on.

    Raises one of UNREADABLE where it is damaged or where the package that unpacks it is not installed.
    """
    member = packed.getinfo(name)
    if member.compress_type != _ZSTANDARD or sys.version_info >= (3, 14):
        return packed.read(name)
    try:
        import zstandard
    except ImportError:
        raise NotImplementedError("it is packed with Zstandard: install the package zstandard to read it") from None
    file = packed.fp
    if file is None:
        raise zipfile.BadZipFile("it is closed")
    file.seek(member.header_offset)
    name_length, extra_length = _HEADER.unpack(file.read(_HEADER.size))
    file.seek(name_length + extra_length, SEEK_CUR)
    try:
        content = zstandard.ZstdDecompressor().stream_reader(file.read(member.compress_size), read_across_frames=True)
        plain = content.read(member.file_size + 1)
    except zstandard.ZstdError as error:
        raise zipfile.BadZipFile(f"{name}: {error}") from None
    if zlib.crc32(plain) != member.CRC:
        raise zipfile.BadZipFile(f"{name} is damaged")
    return bytes(plain)


def files_in(content: bytes, *, max_files: int, max_bytes: int) -> dict[str, bytes]:
    """Return a zip's files by their paths. Raises InvalidDocument where it is broken or unpacks to too much.

    A zip that says too little of its size ends with its own error: no file is read beyond what it says.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            members = [each for each in packed.infolist() if not each.is_dir() and not _is_junk(each.filename)]
            if len(members) > max_files:
                raise InvalidDocument.at("", f"the zip holds {len(members):,} files; the limit is {max_files:,}")
            size = sum(each.file_size for each in members)
            if size > max_bytes:
                raise InvalidDocument.at("", f"the zip unpacks to {size:,} bytes; the limit is {max_bytes:,}")
            names = [each.filename for each in members]
            if twice := {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else set():
                raise InvalidDocument.at("", f"the zip holds {min(twice)} twice")
            return {each.filename: zip_member(packed, each.filename) for each in members}
    except UNREADABLE as error:
        raise InvalidDocument.at("", f"cannot be read as a zip: {error}. Make a new one") from None


def _is_junk(name: str) -> bool:
    return name.startswith(_JUNK[0]) or name.rpartition("/")[2] in _JUNK or name.rpartition("/")[2].startswith("._")
