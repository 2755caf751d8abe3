"""Tell what goes wrong between this installation and whom it asks, as UnreachableError."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Mapping

from toolevals.agents.chats import UnreachableError

# Statuses after which another try may succeed; all from 500 on as well.
TRANSIENT = frozenset({408, 409, 425, 429})
ERROR_LENGTH = 300


def is_transient(status: int) -> bool:
    """Tell whether another try may succeed after a status."""
    return status in TRANSIENT or status >= 500


def unreachable(
    reason: str, *, key: str, again: bool, retry_after: float | None = None, status: int | None = None
) -> UnreachableError:
    """Return the error for a reason, cut short, and without the key: some servers repeat what they refuse."""
    hidden = reason.replace(key, "•••") if key else reason
    return UnreachableError(hidden[:ERROR_LENGTH], again=again, retry_after=retry_after, status=status)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return how many seconds the server asks to wait (RFC 9110, 10.2.3): a number or a date."""
    said = headers.get("retry-after")
    if not said:
        return None
    try:
        return max(0.0, float(said))
    except ValueError:
        moment = email.utils.parsedate_to_datetime(said) if "," in said else None
        return max(0.0, moment.timestamp() - time.time()) if moment else None
