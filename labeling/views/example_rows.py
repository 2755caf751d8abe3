"""Show examples as rows of a table: the last message, and what is expected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from labeling.expectations.wording import summary
from labeling.models import Example
from labeling.queue.shown_strata import strata_shown
from toolevals.presentation.csv import Cell
from toolevals.workspace.models import Role

MAX_TEXT = 140
EXAMPLES_CSV = (
    "example_id",
    "external_id",
    "revision_id",
    "status",
    "says",
    "gold_id",
    "source",
    "expects",
    *Example.STRATA,
)


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


def example_lines(examples: Iterable[Any], role: Role) -> Iterator[tuple[Cell, ...]]:
    """Yield a row of `EXAMPLES_CSV` for each of the same, with status and strata as somebody of this role sees them."""
    for example in examples:
        row, revision, strata = _row(example), example.current, strata_shown(example, role)
        gold = revision.gold if revision else None
        yield (
            example.pk,
            example.external_id,
            revision.pk if revision else None,
            example.status,
            row.says,
            gold.pk if gold else None,
            row.source,
            row.expects,
            *(strata.get(name) for name in Example.STRATA),
        )


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
