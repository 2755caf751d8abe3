"""Tell what goes wrong between this installation and whom it asks, as UnreachableError."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Mapping
from typing import Any

from toolevals.agents.chats import UnreachableError
from toolevals.grading.reading.parsing import printable
from toolevals.grading.values.canonical import shown

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
    return UnreachableError(safe(reason, key), again=again, retry_after=retry_after, status=status)


def safe(words: str, key: str = "") -> str:
    """Return what another side said, cut short, without the key, and so that it can be kept."""
    return printable(words.replace(key, "•••") if key else words)[:ERROR_LENGTH]


def words_in(answer: Any) -> str:
    """Return what an answer says went wrong: the message of its error where it has one, else all of it as text."""
    error = answer.get("error") or answer if isinstance(answer, dict) else answer
    for key in ("message", "detail", "error"):
        if isinstance(error, dict) and isinstance(said := error.get(key), str) and said:
            return said
    return error if isinstance(error, str) else shown(error, ERROR_LENGTH)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return how many seconds the server asks to wait (RFC 9110, 10.2.3): a number or a date."""
    said = headers.get("retry-after")
    if not said:
        return None
    try:
        return max(0.0, float(said))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(said).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None
