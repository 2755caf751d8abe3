"""Read the baseline agents of a dataset version: their runs, and the counts of what each scored."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404

from labeling.models import DatasetVersion
from reports.analyses.baseline_agents import BaselineAgentRow, baseline_agent_rows
from reports.analyses.layers import layers_of
from reports.queries.grading import verdict_counts_of
from toolevals.runs.baseline.baseline_agents import BaselineAgent
from toolevals.runs.counts.example_sums import verdict_sums
from toolevals.runs.models import Run
from toolevals.workspace.requests import ProjectRequest

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
    return baseline_agent_rows(
        (
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
