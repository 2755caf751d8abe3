"""Seals what must not lie open in the database: Fernet (AES-128-CBC, HMAC-SHA-256) under the installation's key.

The key is derived from `SECRET_KEY` (HKDF-SHA-256, RFC 5869), so that a copy of the database alone opens nothing. After
a change of `SECRET_KEY`, what was sealed before opens with the old one in `SECRET_KEY_FALLBACKS`.
"""

from __future__ import annotations

import base64
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

PURPOSE = b"toolevals secrets 1"


class SealBrokenError(Exception):
    """It was sealed under a key that this installation no longer has, or was changed since."""


def seal(text: str) -> str:
    """Return the text encrypted, another result each time."""
    return _fernet().encrypt(text.encode()).decode()


def unseal(sealed: str) -> str:
    """Return the text that was sealed. Raises SealBrokenError."""
    try:
        return _fernet().decrypt(sealed.encode()).decode()
    except InvalidToken:
        raise SealBrokenError("It was sealed under another TOOLEVALS_SECRET_KEY; enter it again.") from None


def _fernet() -> MultiFernet:
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return MultiFernet([Fernet(_derived(str(key))) for key in keys])


@lru_cache(maxsize=16)
def _derived(key: str) -> bytes:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=PURPOSE).derive(key.encode())
    return base64.urlsafe_b64encode(derived)
