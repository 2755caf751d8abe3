"""Read numbers and ids that strangers write into addresses and forms: any text may stand where one is expected."""

from __future__ import annotations

from typing import Final
from uuid import UUID

# No number in an address has more digits; it fits every column.
MOST_DIGITS: Final = 9
_MOST_DIGITS_OF_A_PAGE: Final = 5


def whole_number(text: str) -> int | None:
    """Return the number from 0 that a text of one to nine ASCII digits writes; None for any other text."""
    return int(text) if 0 < len(text) <= MOST_DIGITS and text.isascii() and text.isdigit() else None


def page_number(text: str) -> int:
    """Return the page from 1 that an address asks for; 1 where it asks for none, or for what is no page."""
    return max(1, whole_number(text) or 1) if len(text) <= _MOST_DIGITS_OF_A_PAGE else 1


def read_id(text: str) -> UUID | None:
    """Return the id that a text holds, or None."""
    try:
        return UUID(text)
    except ValueError:
        return None
