"""Tell what is next to an agent's runs: its published scores, and its own runs on public benchmarks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Final
from uuid import UUID

from django.db.models import Q

from reports.cases.queries import verdict_counts_of
from reports.models import PublicScore
from reports.rates import Rate, rate
from reports.run.analysis import layers_of
from toolevals.runs.aggregates.sums import verdict_sums
from toolevals.runs.models import Agent, Run
from toolevals.workspace.models import AuditEntry, Job, JobState, Project, untrashed

# Sources of imports that are public benchmarks, and what those are called.
PUBLIC_SOURCES: Final = {"bfcl": "BFCL", "tau": "tau-bench", "tau2": "tau2-bench"}
# Own runs that are shown, the newest first.
MOST_RUNS: Final = 5


@dataclass(frozen=True, slots=True)
class PublicRow:
    """One score on a public benchmark: published, with its source, or of a run here, with its number.

    `rate` has the count and the interval where they are known; of a published share `passed` is the nearest count.
    """

    agent: str
    benchmark: str
    version: str
    metric: str
    value: float
    rate: Rate | None
    on: date
    source: str = ""
    run: int | None = None


def public_rows(agent: Agent, *, without: Run | None = None) -> tuple[PublicRow, ...]:
    """Return what is known of an agent on public benchmarks. At most six queries."""
    names = {name.casefold() for name in (agent.name, agent.model) if name}
    scores = PublicScore.objects.in_project(agent.project).in_force()
    published = (published_row(score) for score in scores if score.agent.casefold() in names)
    return (*published, *_own_rows(agent, without))


def published_row(score: PublicScore) -> PublicRow:
    """Return a published score as it is shown."""
    counted = rate(round(score.value * score.count), score.count) if score.count else None
    return PublicRow(
        agent=score.agent,
        benchmark=score.benchmark,
        version=score.version,
        metric=score.metric,
        value=score.value,
        rate=counted,
        on=score.published_on,
        source=score.source,
    )


def public_datasets(project: Project) -> dict[UUID, str]:
    """Return the project's datasets that public benchmarks were imported into, and which those are."""
    begun = AuditEntry.objects.filter(project=project, verb="import_start").values_list("target_id", "detail")
    datasets = [(dataset, detail) for dataset, detail in begun if detail.get("source") in PUBLIC_SOURCES]
    jobs = [detail["job"] for _, detail in datasets]
    refused = {str(pk) for pk in _not_succeeded(jobs)}
    return {dataset: PUBLIC_SOURCES[detail["source"]] for dataset, detail in datasets if detail["job"] not in refused}


def _not_succeeded(jobs: Iterable[str]) -> Iterable[UUID]:
    return Job.objects.filter(pk__in=list(jobs)).exclude(state=JobState.SUCCEEDED).values_list("pk", flat=True)


def _own_rows(agent: Agent, without: Run | None) -> tuple[PublicRow, ...]:
    datasets = public_datasets(agent.project)
    if not datasets:
        return ()
    same = Q(agent__model__iexact=agent.model) if agent.model else Q(agent__name=agent.name)
    runs = Run.objects.filter(same, project=agent.project, dataset_version__dataset__in=datasets, baseline_agent="")
    if without is not None:
        runs = runs.exclude(pk=without.pk)
    runs = runs.filter(grading__isnull=False).select_related("agent", "dataset_version__dataset")
    shown = list(runs.order_by("-number")[:MOST_RUNS])
    gradings = [run.grading_id for run in shown if run.grading_id]
    counts = verdict_counts_of(gradings)
    sums = verdict_sums([run.grading_id for run in shown if run.grading_id and run.trials > 1])
    rows = []
    for run in shown:
        grading = run.grading_id
        outcome = layers_of(counts.get(grading, {}), sums.get(grading, {})).outcome.rate if grading else rate(0, 0)
        if outcome.value is not None:
            version = run.dataset_version
            rows.append(
                PublicRow(
                    agent=run.agent.name,
                    benchmark=datasets[version.dataset_id],
                    version=f"{version.dataset.name} v{version.number}",
                    metric="outcome",
                    value=outcome.value,
                    rate=outcome,
                    on=run.created_at.date(),
                    run=run.number,
                )
            )
    return tuple(rows)


def agent_names(project: Project) -> list[str]:
    """Return the names of models and agents in the project's runs, as offered to record a score; no baseline agents."""
    known = (
        Agent.objects.filter(untrashed("runs"), project=project, runs__baseline_agent="")
        .order_by()
        .values_list("model", "name")
        .distinct()
    )
    return sorted({name for pair in known for name in pair if name})


def run_rows(project: Project, number: int) -> tuple[PublicRow, ...]:
    """Return what is known of the agent of the project's run of that number."""
    return public_rows(Agent.objects.select_related("project").get(runs__project=project, runs__number=number))
