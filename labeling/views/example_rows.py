"""Examples as rows of a table: what was said last, and what is expected."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from labeling.models import Example
from labeling.wording import summary

MAX_TEXT = 140


@dataclass(frozen=True, slots=True)
class ExampleRow:
    """One example in a list."""

    example: Example
    says: str
    expects: str
    source: str


def example_rows(examples: Iterable[Example]) -> list[ExampleRow]:
    """Return the rows of examples that were read with their content."""
    return [_row(example) for example in examples]


def _row(example: Example) -> ExampleRow:
    revision = example.current
    gold = revision.gold if revision else None
    return ExampleRow(
        example=example,
        says=last_words(revision.input) if revision else "",
        expects=summary(gold.expectation) if gold else "",
        source=gold.source if gold else "",
    )


def last_words(document: Any) -> str:
    """Return what the user said last, shortened; "" where nobody did."""
    messages = document.get("messages") if isinstance(document, dict) else None
    for message in reversed(messages if isinstance(messages, list) else []):
        if isinstance(message, dict) and message.get("role") == "user":
            text = _text(message.get("content"))
            return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"
    return ""


def _text(content: Any) -> str:
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = " ".join(part for part in parts if isinstance(part, str))
    return " ".join(str(content or "").split())
