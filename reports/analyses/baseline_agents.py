"""Work out the scores of baseline agents, to compare others with. Never a goal, never a gate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from reports.analyses.layers import Layers, VerdictRow


@dataclass(frozen=True, slots=True)
class BaselineAgentRow:
    """One baseline agent of a dataset version: its run, and what it scored; `layers` is None until it is graded."""

    kind: str
    name: str
    run: int
    layers: Layers | None

    @property
    def shown(self) -> tuple[VerdictRow, ...]:
        """The rows of a small table: whole cases, selection, arguments."""
        return (self.layers.outcome, *(step.row for step in self.layers.funnel)) if self.layers else ()


def baseline_agent_rows(rows: Iterable[tuple[str, str, int, Layers | None]]) -> tuple[BaselineAgentRow, ...]:
    """Return the rows of baseline agents (kind, name, run, layers)."""
    return tuple(BaselineAgentRow(*row) for row in rows)


def highest(rows: Iterable[BaselineAgentRow]) -> Mapping[str, tuple[float, str]]:
    """Return, for each rate, the highest that a baseline agent reaches, and its name. Luck alone explains that."""
    best: dict[str, tuple[float, str]] = {}
    for agent in rows:
        for row in agent.layers.rows if agent.layers else ():
            if row.rate.value is not None and (row.name not in best or row.rate.value > best[row.name][0]):
                best[row.name] = row.rate.value, agent.name
    return best


@dataclass(frozen=True, slots=True)
class BaselineRate:
    """One rate of one baseline agent."""

    agent: BaselineAgentRow
    row: VerdictRow


def baseline_rates(rows: Iterable[BaselineAgentRow]) -> list[BaselineRate]:
    """Return every rate of every baseline agent that is graded."""
    return [BaselineRate(agent, row) for agent in rows if agent.layers for row in agent.layers.rows]
