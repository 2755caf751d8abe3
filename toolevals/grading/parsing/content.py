"""Text of messages and of tool results, whatever a provider wraps it in."""

from __future__ import annotations

from typing import Any

from toolevals.grading.canonical import exact


def text_in(content: Any) -> str | None:
    """Return the text of a message's content: text itself, or blocks with text, one a line; None where there is none.

    Reasoning, images and other blocks without text are left aside. A refusal is what was said.
    """
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return None
    parts = [part if isinstance(part, str) else _block_text(part) for part in content]
    return "\n".join(part for part in parts if part is not None) or None


def result_text(value: Any) -> str:
    """Return what a tool gave back: its text, or JSON text of any other value; nothing is the empty text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(_is_block(item) for item in value):
        return text_in(value) or ""
    return exact(value)


def _is_block(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("type"), str)


def _block_text(block: Any) -> str | None:
    if not isinstance(block, dict) or block.get("thought") is True:
        return None
    text = block.get("refusal") if block.get("type") == "refusal" else block.get("text")
    return text if isinstance(text, str) else None
