"""Reads what an agent wrote for itself out of any provider's parts: thinking, reasoning and its summaries."""

from __future__ import annotations

from typing import Any, Final

REASONING: Final = "reasoning"
# Where providers keep the words of a thought; of an object the first that holds any.
_WORDS: Final = (
    "thinking", "thought", "text", "reasoning", "reasoningText", "reasoning_content", "content", "summary", "details",
)  # fmt: skip
_DEEPEST: Final = 4


def thought_in(part: Any, depth: int = 0) -> str | None:
    """Return the words of a thought, parts of it one a line; None where there are none, or they are encrypted."""
    if isinstance(part, str):
        return part.strip() or None
    if depth == _DEEPEST:
        return None
    if isinstance(part, list):
        found = (thought_in(each, depth + 1) for each in part)
        return "\n".join(text for text in found if text) or None
    if isinstance(part, dict):
        return next((text for key in _WORDS if (text := thought_in(part.get(key), depth + 1))), None)
    return None
