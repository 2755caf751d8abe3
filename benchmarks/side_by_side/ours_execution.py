"""Runs this project's execution of recorded retail trajectories, in one process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

VERSION = "this checkout"


def steps(_: Path) -> Mapping[str, Callable[..., Any]]:
    """Return `load` and `execute`, which returns how many trajectories left the expected state."""
    from benchmarks import execution

    def way(database: Mapping[str, Any]) -> Callable[[execution.Recorded], bool]:
        return execution.our_way(execution.Retail(database))

    return execution.steps_of(way)
