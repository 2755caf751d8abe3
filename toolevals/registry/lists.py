"""Writes the lists of registries and of versions as files: columns (see docs/tables.md) and rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from toolevals.presentation.csv import Cell
from toolevals.registry.models import RegistryVersion

REGISTRIES: Final = (
    "registry_id",
    "registry",
    "name",
    "newest_version_id",
    "newest_version",
    "tools",
    "newest_at",
    "created_at",
)
VERSIONS: Final = ("version_id", "version", "tools", "digest", "note", "losses", "actor_id", "actor", "created_at")


def registry_lines(registries: Iterable[Any]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each registry that was read `with_newest`."""
    for each in registries:
        newest = each.newest_id, each.newest_number, each.newest_size, each.newest_at
        yield each.pk, each.slug, each.name, *newest, each.created_at


def version_lines(versions: Iterable[RegistryVersion]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each version that was read with its tool list and who published it."""
    for each in versions:
        who = (each.actor.pk, each.actor.name) if each.actor else (None, None)
        losses = json.dumps(each.losses, ensure_ascii=False) if each.losses else None
        yield each.pk, each.number, each.tools.size, each.tools.digest, each.note, losses, *who, each.created_at
