"""Show examples as rows of a table, and the strata that the rows can be narrowed by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from labeling.conversation.turns import snippet
from labeling.examples.shown_strata import hidden_strata, strata_shown
from labeling.examples.told import Told
from labeling.expectations.wording import summary
from labeling.models import Dataset, Example
from toolevals.json_types import JsonObject
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
    "labels",
    "labelled_by",
    "flags",
    "comments",
    *Example.STRATA,
)


MAX_STRATUM_VALUES = 30
LOOK_AT = 500


@dataclass(frozen=True, slots=True)
class ExampleRow:
    """One example in a list."""

    example: Example
    says: str
    expects: str
    source: str
    told: Told | None = None


def example_rows(examples: Iterable[Example], told: Mapping[UUID, Told] | None = None) -> list[ExampleRow]:
    """Return the rows of examples that were read with their content; `told`: what the reader is told of each."""
    return [_row(example, told) for example in examples]


def example_lines(examples: Iterable[Any], told: Mapping[UUID, Told], role: Role) -> Iterator[tuple[Cell, ...]]:
    """Yield a row of `EXAMPLES_CSV` for each of the same, with status and strata as someone of this role sees them."""
    for example in examples:
        row, revision, strata = _row(example), example.current, strata_shown(example, role)
        known = told[example.pk]
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
            known.labels,
            ", ".join(known.names),
            known.flags,
            known.comments,
            *(strata.get(name) for name in Example.STRATA),
        )


def _row(example: Example, told: Mapping[UUID, Told] | None = None) -> ExampleRow:
    revision = example.current
    gold = revision.gold if revision else None
    return ExampleRow(
        example=example,
        says=snippet(revision.input) if revision else "",
        expects=summary(gold.expectation) if gold else "",
        source=gold.source if gold else "",
        told=told[example.pk] if told else None,
    )


def strata_choices(
    dataset: Dataset, chosen: Mapping[str, str], role: Role, *, most: int | None = LOOK_AT
) -> list[JsonObject]:
    """Return the strata that have values someone of this role is told, each with its values and which is `chosen`.

    `most`: so many of a dataset's oldest and newest examples say which values there are; None looks at all.
    """
    hidden = hidden_strata(dataset, role)
    found = Example.objects.of_dataset(dataset).strata_values(hidden=hidden, most=most)
    return [
        {
            "name": name,
            "title": name.replace("_", " "),
            "values": sorted({*values, *filter(None, [chosen.get(name, "")])}),
            "chosen": chosen.get(name, ""),
        }
        for name, values in found.items()
        if len(values) < MAX_STRATUM_VALUES
    ]
