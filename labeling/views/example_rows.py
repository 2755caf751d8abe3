"""Show examples as rows of a table: the last message, and what is expected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from labeling.conversation.input_text import snippet
from labeling.expectations.wording import summary
from labeling.models import Example
from labeling.queue.shown_strata import strata_shown
from toolevals.presentation.csv import Cell
from toolevals.workspace.models import Role

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
    """Yield a row of `EXAMPLES_CSV` for each of the same, with status and strata as someone of this role sees them."""
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
        says=snippet(revision.input) if revision else "",
        expects=summary(gold.expectation) if gold else "",
        source=gold.source if gold else "",
    )
