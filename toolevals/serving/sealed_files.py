"""Encrypts a stream in chunks, so that a wrong key, a changed byte and a missing end are each noticed.

The key comes from a passphrase or a key file by scrypt (RFC 7914). Each chunk is sealed by ChaCha20-Poly1305 (RFC
8439); its nonce is its number and whether it is the last, as in the STREAM construction that age uses.
"""

from __future__ import annotations

import io
import os
from typing import BinaryIO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

MAGIC = b"toolevals encrypted backup 1\n"
SALT, TAG, CHUNK = 16, 16, 1024 * 1024


class SealError(Exception):
    """The key is not the one it was encrypted with, or bytes have changed or are missing."""


class _Chunks:
    """Seals or opens the chunks of one file, one after the other."""

    def __init__(self, secret: bytes, head: bytes) -> None:
        key = Scrypt(salt=head[-SALT:], length=32, n=2**16, r=8, p=1).derive(secret)
        self.cipher, self.head, self.number = ChaCha20Poly1305(key), head, 0

    def nonce(self, *, last: bool) -> bytes:
        self.number += 1
        return self.number.to_bytes(11, "big") + bytes([last])


class SealedWriter(io.RawIOBase):
    """Takes what is to be encrypted; the file stays open."""

    def __init__(self, file: BinaryIO, secret: bytes) -> None:
        head = MAGIC + os.urandom(SALT)
        file.write(head)
        self._file, self._held, self._chunks = file, bytearray(), _Chunks(secret, head)

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self._held += data
        while len(self._held) > CHUNK:
            self._seal(CHUNK, last=False)
        return len(data)

    def finish(self) -> None:
        """Write the last chunk: without it the file counts as truncated."""
        self._seal(CHUNK, last=True)

    def _seal(self, size: int, *, last: bool) -> None:
        plain = bytes(self._held[:size])
        del self._held[:size]
        self._file.write(self._chunks.cipher.encrypt(self._chunks.nonce(last=last), plain, self._chunks.head))


class SealedReader(io.RawIOBase):
    """Gives what was encrypted. Reading raises SealError."""

    def __init__(self, file: BinaryIO, secret: bytes) -> None:
        self._file, self._open, self._ended = file, b"", False
        self._chunks = _Chunks(secret, file.read(len(MAGIC) + SALT))
        self._next = file.read(CHUNK + TAG)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        if not self._open and not self._ended:
            sealed, self._next = self._next, self._file.read(CHUNK + TAG)
            self._ended = not self._next
            try:
                nonce = self._chunks.nonce(last=self._ended)
                self._open = self._chunks.cipher.decrypt(nonce, sealed, self._chunks.head)
            except InvalidTag:
                raise SealError from None
        part, self._open = self._open[: len(buffer)], self._open[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)
