"""What a zip that somebody sends may be."""

import struct
import sys
import zipfile
import zlib
from os import SEEK_CUR

# What reading one raises that is damaged, cut short, needs a password (RuntimeError) or is packed in a way that is not
# known here (NotImplementedError).
UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)

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
