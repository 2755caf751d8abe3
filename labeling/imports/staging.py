"""Resolve rows against the project's tools, and stage them until the whole file is known to be good."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from labeling.imports.parts import Part
from labeling.models import Dataset, Example, ImportPart, StagedExample
from toolevals.grading.json_schema.conformance import expectation_problems
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.canonical import digest
from toolevals.grading.values.problems import InvalidDocument, pointer_to
from toolevals.registry.models import RegistryVersion, ToolList
from toolevals.registry.tool_lists import list_digest, tool_lists_store, tools_in
from toolevals.workspace.bulk import rows_insert

_COLUMNS = (
    "id", "part_id", "line", "example_id", "gold_id", "external_id", "digest", "input", "tools_id",
    "expectation", "rationale", *Example.STRATA, "decided_by", "origin",
)  # fmt: skip

_STRATA_LIMITS = {name: getattr(Example._meta.get_field(name), "max_length", 0) for name in Example.STRATA}


@dataclass(frozen=True, slots=True)
class Offer:
    """A stored tool list and its specs loaded."""

    tools: ToolList
    specs: tuple[ToolSpec, ...]


def part_resolve(dataset: Dataset, part: Part) -> list[tuple[int, int, ExampleRow, Offer]]:
    """Return the part's rows with the tools that each offers; rows that cannot be kept are refused on the way.

    New tool lists are stored at once: lists are shared and immutable, so one that no example comes to use does no harm.
    """
    inline = tool_lists_store(dataset.project, [row.tools for _, _, row in part.rows if isinstance(row.tools, list)])
    named = _NamedTools(dataset)
    resolved = []
    for line, offset, row in part.rows:
        try:
            _check_strata(row)
            if isinstance(row.tools, list):
                offer = Offer(inline[list_digest(row.tools)], tuple(row.tools))
            else:
                offer = named.offer(row.tools)
        except InvalidDocument as error:
            part.refuse(line, error.problems)
            continue
        part.remark(line, row.losses)
        if row.expectation is not None:
            part.remark(line, (p.below("/expectation") for p in expectation_problems(row.expectation, offer.specs)))
        resolved.append((line, offset, row, offer))
    return resolved


def part_store(
    dataset: Dataset,
    part: Part,
    resolved: Iterable[tuple[int, int, ExampleRow, Offer]],
    *,
    job_id: UUID | None,
    number: int,
    moment: int,
) -> ImportPart:
    """Write down a part that was read, within the caller's transaction.

    `moment` is the import's time in milliseconds: with the rows' offsets it makes ids that sort as the file does,
    whichever worker reads which part.
    """
    stored = ImportPart.objects.create(
        dataset=dataset,
        job_id=job_id,
        number=number,
        lines=part.lines,
        problems=part.problems,
        remarks=part.remarks,
        errors=part.errors,
        warnings=part.warnings,
    )
    rows_insert(StagedExample, _COLUMNS, _staged(stored.pk, resolved, moment))
    return stored


def _staged(
    part_id: UUID, resolved: Iterable[tuple[int, int, ExampleRow, Offer]], moment: int
) -> Iterator[tuple[Any, ...]]:
    for line, offset, row, offer in resolved:
        revision_id, example_id, gold_id = sortable_ids(moment, offset, 3)
        yield (
            revision_id,
            part_id,
            line,
            example_id,
            gold_id,
            row.external_id,
            digest({"input": row.input, "tools": offer.tools.digest}),
            row.input,
            offer.tools.pk,
            None if row.expectation is None else row.expectation.to_document(),
            row.rationale,
            *(row.strata.get(name, "") for name in Example.STRATA),
            row.decided_by,
            row.origin,
        )


def sortable_ids(moment: int, offset: int, count: int) -> list[UUID]:
    """Return UUIDv7s of a time in milliseconds whose counter is `offset` (44 bits); the last 30 bits are random."""
    high = offset >> 32 & 0xFFF
    low = offset & 0xFFFFFFFF
    counted = moment << 80 | 7 << 76 | high << 64 | 2 << 62 | low << 30
    chance = secrets.randbits(30 * count)
    return [UUID(int=counted | chance >> 30 * number & 0x3FFFFFFF) for number in range(count)]


class _NamedTools:
    """Tool lists by the name of a registry version, looked up once each."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.found: dict[str | None, Offer | None] = {}

    def offer(self, name: str | None) -> Offer:
        """Return what `name` offers; None is the dataset's default. Raises InvalidDocument."""
        if name not in self.found:
            version = (
                self.dataset.default_tools
                if name is None
                else RegistryVersion.objects.named(self.dataset.project, name)
            )
            self.found[name] = None if version is None else Offer(version.tools, tools_in(version.tools))
        offer = self.found[name]
        if offer is None:
            message = (
                "no tools: name a registry version or list tool specs, or give the dataset default tools"
                if name is None
                else "this project has no registry version of that name"
            )
            raise InvalidDocument.at("/tools", message)
        return offer


def _check_strata(row: ExampleRow) -> None:
    for name, value in row.strata.items():
        limit = _STRATA_LIMITS.get(name)
        if limit is None:
            known = ", ".join(_STRATA_LIMITS)
            raise InvalidDocument.at(pointer_to(("strata", name)), f"no such stratum; there are {known}")
        if len(value) > limit:
            raise InvalidDocument.at(pointer_to(("strata", name)), f"longer than {limit} characters")
