"""Describe the answers of tools: few fields, rates with counts and intervals, and the page of the same."""

from __future__ import annotations

from typing import Any, TypedDict
from urllib.parse import parse_qs, urlsplit

# Of one text; a case is read whole by `show_case`, up to MOST_OF_A_CASE characters a part.
SHORT, LONG, MOST_OF_A_CASE = 160, 600, 6_000


class Rate(TypedDict):
    """`passed` of `total`, with the 95 % interval; null where nothing is counted."""

    passed: int
    total: int
    value: float | None
    low: float | None
    high: float | None


def rate_of(said: Any) -> Rate | None:
    """Return a rate of the interface in this form."""
    if said is None:
        return None
    bounds = said.get("interval") or {}
    low, high = said.get("low", bounds.get("low")), said.get("high", bounds.get("high"))
    return Rate(passed=said["passed"], total=said["total"], value=said["value"], low=low, high=high)


def shortened(text: object, most: int = SHORT) -> str:
    """Return a text of at most `most` characters, with a mark where it was cut."""
    whole = "" if text is None else str(text)
    return whole if len(whole) <= most else f"{whole[:most]} … ({len(whole) - most} characters more)"


def next_of(found: Any) -> str | None:
    """Return the cursor of the page that follows in a list of the interface, None at the end."""
    return parse_qs(urlsplit(found["next"]).query)["cursor"][0] if found["next"] else None
