"""Write the lists of runs, experiments and agents as files: columns (see docs/tables.md) and rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from toolevals.grading.metrics.label_noise import LabelNoise
from toolevals.presentation.csv import Cell
from toolevals.runs.aggregates.run_rows import RunRow

RUNS: Final = (
    "run_id",
    "run",
    "experiment",
    "agent_id",
    "agent",
    "connector",
    "model",
    "prompt_version",
    "commit",
    "dataset",
    "version",
    "examples",
    "trials",
    "grading_id",
    "grading",
    "passed",
    "scored",
    "rate",
    "rate_low",
    "rate_high",
    "label_noise",
    "label_noise_high",
    "noise_low",
    "noise_high",
    "cost_of_case",
    "tokens_of_case",
    "latency_p95",
    "decided_by",
    "state",
    "stale",
    "created_at",
)
EXPERIMENTS: Final = ("experiment_id", "experiment", "name", "runs", "last_run", "last_run_at", "created_at")
SUBJECTS: Final = (
    "agent_id",
    "name",
    "connector",
    "model",
    "prompt_version",
    "commit",
    "registry",
    "registry_version",
    "options",
    "runs",
    "last_run",
    "created_at",
)


def noise_cells(noise: LabelNoise | None, score: float | None) -> tuple[Cell, ...]:
    """Return the share of wrong gold and its upper end, and where that could put a score; empty what is unknown."""
    bounds = noise.bounds(score) if noise else None
    ends = (bounds.low, bounds.high) if bounds else (None, None)
    return (noise.share, noise.high, *ends) if noise and score is not None else (None, None, None, None)


def run_lines(rows: Iterable[RunRow]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each run."""
    for row in rows:
        run, rate = row.run, row.rate
        agent, version = run.agent, run.dataset_version
        interval = rate.interval if rate else None
        yield (
            run.pk,
            run.number,
            run.experiment.slug,
            agent.pk,
            agent.name,
            agent.connector,
            agent.model,
            agent.prompt_version,
            agent.commit,
            version.dataset.slug,
            version.number,
            run.size,
            run.trials,
            run.grading_id,
            run.grading.number if run.grading else None,
            rate.passed if rate else None,
            rate.total if rate else None,
            rate.value if rate else None,
            interval.low if interval else None,
            interval.high if interval else None,
            *noise_cells(row.noise, rate.value if rate else None),
            row.took.cost_of_case,
            row.took.tokens_of_case,
            row.took.latency_p95,
            " ".join(row.decided.names) if rate else None,
            row.state,
            row.stale,
            run.created_at,
        )


def experiment_lines(experiments: Iterable[Any]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each experiment that was read `with_runs`."""
    for experiment in experiments:
        yield (
            experiment.pk,
            experiment.slug,
            experiment.name,
            experiment.run_count,
            experiment.last_run,
            experiment.last_run_at,
            experiment.created_at,
        )


def agent_lines(agents: Iterable[Any]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each agent that was read `with_runs`."""
    for agent in agents:
        yield (
            agent.pk,
            agent.name,
            agent.connector,
            agent.model,
            agent.prompt_version,
            agent.commit,
            agent.tools.registry.slug if agent.tools else None,
            agent.tools.number if agent.tools else None,
            json.dumps(agent.options, ensure_ascii=False) if agent.options else None,
            agent.run_count,
            agent.last_run,
            agent.created_at,
        )
