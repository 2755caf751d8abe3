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
    for dataset in datasets:
        tools = str(dataset.default_tools) if dataset.default_tools else None
        counts = dataset.size, dataset.with_gold, dataset.counted_at
        yield dataset.pk, dataset.slug, dataset.name, dataset.description, *counts, tools, dataset.created_at


def version_lines(versions: Iterable[DatasetVersion]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each version that was read with who froze it."""
    for version in versions:
        who = (version.actor.pk, version.actor.name) if version.actor else (None, None)
        yield version.pk, version.number, version.size, version.note, " ".join(version.tags), *who, version.created_at
