"""Datasets as native JSON Lines: the full form of the example schema, one document a line.

Lines are put together from the text that is stored, keys in the order in which they were written, so that an export
streams at the speed of the database and an import of it gives the same text again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.db.models import TextField
from django.db.models.functions import Cast

from labeling.models import Dataset, DatasetVersion, Example, VersionEntry
from toolevals.grading.canonical import exact
from toolevals.registry.models import ToolList
from toolevals.registry.tool_lists import tools_in

AT_ONCE = 1000


def dataset_lines(dataset: Dataset) -> Iterator[bytes]:
    """Yield every example as it is shown now, with the gold in force where there is any, in the order of import."""
    rows = Example.objects.of_dataset(dataset).order_by("id").values_list(*_columns("", "current", "current__gold"))
    yield from _lines(rows.iterator(chunk_size=AT_ONCE))


def version_lines(version: DatasetVersion) -> Iterator[bytes]:
    """Yield every example of a frozen version, with its frozen gold, in the version's order."""
    rows = VersionEntry.objects.filter(version=version).order_by("position")
    columns = _columns("revision__example", "revision", "gold")
    yield from _lines(rows.values_list(*columns).iterator(chunk_size=AT_ONCE))


def _columns(example: str, revision: str, gold: str) -> tuple[Any, ...]:
    prefix = f"{example}__" if example else ""
    return (
        f"{prefix}external_id",
        Cast(f"{revision}__input", TextField()),
        f"{revision}__tools",
        Cast(f"{gold}__expectation", TextField()),
        f"{gold}__rationale",
        f"{gold}__source",
        *(f"{prefix}{name}" for name in Example.STRATA),
    )


def _lines(rows: Iterator[tuple[Any, ...]]) -> Iterator[bytes]:
    tools = _ToolTexts()
    for external_id, shown, tool_list, expectation, rationale, source, *values in rows:
        strata = {name: value for name, value in zip(Example.STRATA, values, strict=True) if value}
        parts = [f'"id":{exact(external_id)}', f'"input":{shown}', f'"tools":{tools[tool_list]}']
        if expectation is not None:
            parts += [f'"expectation":{expectation}', f'"gold_source":{exact(source)}']
        if rationale:
            parts.append(f'"rationale":{exact(rationale)}')
        if strata:
            parts.append(f'"strata":{exact(strata)}')
        yield f"{{{','.join(parts)}}}\n".encode()


class _ToolTexts(dict[UUID, str]):
    """The text of tool lists, by id: most examples share a few."""

    KEPT = 1000

    def __missing__(self, pk: UUID) -> str:
        if len(self) >= self.KEPT:
            self.clear()
        text = exact([spec.to_document() for spec in tools_in(ToolList.objects.get(pk=pk))])
        self[pk] = text
        return text
