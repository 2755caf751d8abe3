"""Work out the scores of baseline agents, to compare others with. Never a goal, never a gate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.http import Http404

from labeling.models import DatasetVersion
from reports.cases.queries import verdict_counts_of
from reports.run.analysis import Layers, VerdictRow, layers_of
from toolevals.runs.aggregates.sums import verdict_sums
from toolevals.runs.baseline.baseline_agents import BaselineAgent
from toolevals.runs.models import Run
from toolevals.workspace.requests import ProjectRequest


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


ORDER = {agent.value: place for place, agent in enumerate(BaselineAgent)}


def version_baseline_agents(version: DatasetVersion | UUID) -> tuple[BaselineAgentRow, ...]:
    """Return the baseline agents of a version, none until a worker has started them."""
    runs = list(
        Run.objects.filter(dataset_version=version)
        .exclude(baseline_agent="")
        .values_list("baseline_agent", "number", "grading", "trials")
    )
    counts = verdict_counts_of([grading for _, _, grading, _ in runs if grading])
    sums = verdict_sums([grading for _, _, grading, trials in runs if grading and trials > 1])
    return tuple(
        BaselineAgentRow(
            kind,
            BaselineAgent(kind).label,
            number,
            layers_of(counts[grading], sums.get(grading, {})) if grading in counts else None,
        )
        for kind, number, grading, _ in sorted(runs, key=lambda row: ORDER[row[0]])
    )


def version_asked(request: ProjectRequest, dataset: str, version: str) -> DatasetVersion:
    """Return the project's dataset version of that number or tag, or raise Http404."""
    row = DatasetVersion.objects.named(request.project, f"{dataset}@{version}")
    if row is None:
        raise Http404
    return row
