"""Write the lists of datasets and versions as files: their columns (described in docs/tables.md) and their rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from labeling.models import DatasetVersion
from toolevals.presentation.csv import Cell

DATASETS: Final = (
    "dataset_id",
    "dataset",
    "name",
    "description",
    "size",
    "with_gold",
    "counted_at",
    "default_tools",
    "created_at",
)
VERSIONS: Final = ("version_id", "version", "examples", "note", "tags", "actor_id", "actor", "created_at")


def dataset_lines(datasets: Iterable[Any]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each dataset that was counted."""
    for each in datasets:
        tools = str(each.default_tools) if each.default_tools else None
        counts = each.size, each.with_gold, each.counted_at
        yield each.pk, each.slug, each.name, each.description, *counts, tools, each.created_at


def version_lines(versions: Iterable[DatasetVersion]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each version that was read with who froze it."""
    for each in versions:
        who = (each.actor.pk, each.actor.name) if each.actor else (None, None)
        yield each.pk, each.number, each.size, each.note, " ".join(each.tags), *who, each.created_at
