"""Read the text of an example's input: what its messages say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LONGEST_SNIPPET = 140


def content_text(content: Any) -> str:
    """Return the text of a message's content: its words, or those of its parts with a space between."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return " ".join(part["text"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("text"), str))


def last_request(document: Any) -> str:
    """Return what the user said last in an example's input, on one line; "" where no one did."""
    messages = document.get("messages") if isinstance(document, Mapping) else None
    for message in reversed(messages if isinstance(messages, list) else []):
        if isinstance(message, Mapping) and message.get("role") == "user":
            return " ".join(content_text(message.get("content")).split())
    return ""


def snippet(document: Any, most: int = LONGEST_SNIPPET) -> str:
    """Return `last_request`, cut where it is longer than `most` characters."""
    text = last_request(document)
    return text if len(text) <= most else f"{text[: most - 1]}…"
