"""Reads what a message says besides its words and calls: thoughts, milliseconds, tokens, cost.

Reads what an agent wrote for itself out of any provider's parts: thinking, reasoning and its summaries.

Read what a message or a response says that it took: milliseconds, tokens by any provider's names, cost.
"""

from __future__ import annotations

from typing import Final

from toolevals.grading.values.transcripts import Measures
from toolevals.json_types import JsonObject

REASONING: Final = "reasoning"
# Where providers keep the words of a thought; of an object the first that holds any.
_WORDS: Final = (
    "thinking", "thought", "text", "reasoning", "reasoningText", "reasoning_content", "content", "summary", "details",
)  # fmt: skip
_DEEPEST: Final = 4


def thought_in(part: object, depth: int = 0) -> str | None:
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


_USAGE = {
    "input_tokens": "input_tokens", "prompt_tokens": "input_tokens", "promptTokenCount": "input_tokens",
    "prompt_token_count": "input_tokens", "output_tokens": "output_tokens", "completion_tokens": "output_tokens",
    "candidatesTokenCount": "output_tokens", "candidates_token_count": "output_tokens",
    "inputTokens": "input_tokens", "outputTokens": "output_tokens",
    "promptTokens": "input_tokens", "completionTokens": "output_tokens",
    "prompt_eval_count": "input_tokens", "eval_count": "output_tokens",
}  # fmt: skip
# What a double holds exactly; nothing takes more.
_MOST = 2**53
_UNDER = ("usage", "usageMetadata", "usage_metadata")
# The keys of a message that say what it took.
MEASURE_KEYS = ("latency_ms", "cost", "prompt_eval_count", "eval_count", *_UNDER)


def usage_in(document: JsonObject) -> dict[str, float]:
    """Return the counts of tokens under our names; what is no count is left aside."""
    given = next((document[key] for key in _UNDER if key in document), None)
    if given is None and "eval_count" in document:
        # Ollama counts next to its message.
        given = document
    if isinstance(given, dict) and isinstance(given.get("tokens"), dict):
        # Cohere tells tokens from what it bills.
        given = given["tokens"]
    if not isinstance(given, dict):
        return {}
    return {ours: given[key] for key, ours in _USAGE.items() if is_count(given.get(key))}


def measures_in(item: JsonObject) -> Measures | None:
    """Return what a message took (`latency_ms`, `usage`, `cost` next to its words); None where it says nothing."""
    latency, cost = item.get("latency_ms"), item.get("cost")
    found = Measures(latency if is_count(latency) else None, usage_in(item), cost if is_count(cost) else None)
    return found or None


def is_count(value: object) -> bool:
    """Tell whether a value is a number from 0 to 2^53."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _MOST
