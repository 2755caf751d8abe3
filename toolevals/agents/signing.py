"""Sign messages as https://www.standardwebhooks.com says, so that libraries for it check them."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from typing import Final

# What a secret begins with that is base64, as the standard writes it.
ENCODED: Final = "whsec_"


def signed_headers(key: str, identifier: str, content: bytes, now: float) -> dict[str, str]:
    """Return the headers that sign a message with its id, by the time `now`; none without a key."""
    if not key:
        return {}
    moment = str(int(now))
    signed = hmac.new(_bytes_of(key), f"{identifier}.{moment}.".encode() + content, hashlib.sha256).digest()
    return {"webhook-timestamp": moment, "webhook-signature": f"v1,{base64.b64encode(signed).decode()}"}


def _bytes_of(key: str) -> bytes:
    if not key.startswith(ENCODED):
        return key.encode()
    try:
        return base64.b64decode(key.removeprefix(ENCODED), validate=True)
    except binascii.Error:
        return key.encode()
