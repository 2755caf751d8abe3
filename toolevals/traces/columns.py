"""Bring what senders say into what columns take."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = 4_000_000_000 * 10**9


def clean(text: str, length: int) -> str:
    """Return the beginning of a text that a column takes: no database of ours has a NUL, or half of a character."""
    return text[:length].replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()


def moment(nanoseconds: int) -> datetime:
    """Return a time in nanoseconds since 1970, what is beyond any calendar brought to its end."""
    return _EARLIEST + timedelta(microseconds=min(nanoseconds, _LATEST) // 1000)
