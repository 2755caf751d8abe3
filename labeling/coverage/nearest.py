"""Estimate the tool that a request without a call comes near, by the words that both share.

A request that needs no call is a negative of a tool when somebody could mistake it for one that does. People and
importers say so by `near` in the expectation. Where they don't, this estimate stands in and is shown as one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from math import log
from typing import Any

from toolevals.grading.values import ToolSpec

# A tool is near that shares a word of its name, or so many words of its description.
FEWEST_SHARED = 2
MOST_TEXT = 4_000
_WORD = re.compile(r"[^\W_]{3,}")
_PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_.\-/]")
_COMMON = frozenset(
    [
        "about",
        "and",
        "any",
        "are",
        "can",
        "could",
        "did",
        "does",
        "for",
        "from",
        "give",
        "get",
        "has",
        "have",
        "her",
        "him",
        "his",
        "how",
        "into",
        "its",
        "let",
        "make",
        "may",
        "more",
        "need",
        "not",
        "now",
        "one",
        "our",
        "out",
        "please",
        "set",
        "she",
        "should",
        "some",
        "tell",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "they",
        "this",
        "tool",
        "use",
        "used",
        "user",
        "using",
        "via",
        "want",
        "was",
        "what",
        "when",
        "where",
        "which",
        "who",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
    ]
)


def nearest_tools(messages: Any, tools: Mapping[str, ToolSpec]) -> tuple[str, ...]:
    """Return the offered tools that share the rarest words with what the user says last; none where no tool is near.

    A word weighs log(1 + n/k) where k of n tools have it. Tools that come equally near are all returned, up to three.
    """
    said = _words(_last_request(messages))
    if not said or not tools:
        return ()
    names = {name: _words(_PARTS.sub(" ", name)) for name in tools}
    words = {name: names[name] | _words(tool.description or "") for name, tool in tools.items()}
    spread = Counter(word for each in words.values() for word in each)
    scores: dict[str, float] = {}
    for name in tools:
        shared = said & words[name]
        if said & names[name] or len(shared) >= FEWEST_SHARED:
            scores[name] = sum(log(1 + len(tools) / spread[word]) for word in sorted(shared))
    best = max(scores.values(), default=0.0)
    nearest = tuple(sorted(name for name, score in scores.items() if score == best))
    return nearest if len(nearest) <= 3 else ()


def _words(text: str) -> frozenset[str]:
    tokens = (word.lower() for word in _WORD.findall(text[:MOST_TEXT]))
    return frozenset(_stem(word) for word in tokens if word not in _COMMON)


def _stem(word: str) -> str:
    for end in ("ing", "ies", "es", "s", "ed"):
        if word.endswith(end) and len(word) - len(end) >= 3:
            return word[: -len(end)]
    return word


def _last_request(messages: Any) -> str:
    for message in reversed(messages) if isinstance(messages, list) else ():
        if isinstance(message, dict) and message.get("role") == "user":
            return _text(message.get("content"))
    return ""


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    return " ".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))
