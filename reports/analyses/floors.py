"""Baseline agents and what they score, which other scores are read against. Never a goal, never a gate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from reports.analyses.layers import Layers, VerdictRow


@dataclass(frozen=True, slots=True)
class FloorRow:
    """One floor of a dataset version: its run, and what it scored; `layers` is None until it is graded."""

    kind: str
    name: str
    run: int
    layers: Layers | None

    @property
    def shown(self) -> tuple[VerdictRow, ...]:
        """What stands in a small table: whole cases, selection, arguments."""
        return (self.layers.outcome, *(step.row for step in self.layers.funnel)) if self.layers else ()


def floor_rows(found: Iterable[tuple[str, str, int, Layers | None]]) -> tuple[FloorRow, ...]:
    """Return the rows of floors (kind, name, run, layers)."""
    return tuple(FloorRow(*row) for row in found)


def highest(rows: Iterable[FloorRow]) -> Mapping[str, tuple[float, str]]:
    """Return, for each rate, the highest that any floor reaches, and which one does: what luck alone can explain."""
    best: dict[str, tuple[float, str]] = {}
    for floor in rows:
        for row in floor.layers.rows if floor.layers else ():
            if row.rate.value is not None and (row.name not in best or row.rate.value > best[row.name][0]):
                best[row.name] = row.rate.value, floor.name
    return best
