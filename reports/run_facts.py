"""Runs as trends name them, and what changed from each to the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from uuid import UUID

from reports.analyses.trend import RunFacts
from toolevals.grading.canonical import digest
from toolevals.runs.models import Experiment, Run

# What of a subject or its dataset is told apart: label -> how to read it from a run.
COMPARED: Final[dict[str, Callable[[Run], str]]] = {
    "agent": lambda run: run.subject.name,
    "model": lambda run: run.subject.model,
    "prompt": lambda run: run.subject.prompt_version,
    "commit": lambda run: run.subject.commit[:10],
    "tools": lambda run: f"v{run.subject.tools.number}" if run.subject.tools else "",
    "dataset": lambda run: f"{run.dataset_version.dataset.name} v{run.dataset_version.number}",
    "examples": lambda run: "all" if run.only is None else f"{run.size} of {run.dataset_version.size}",
    "gold": lambda run: f"v{run.grading.dataset_version.number}" if run.grading and _graded_elsewhere(run) else "",
}


def recent_runs(experiment: Experiment, *, most: int, upto: int | None = None) -> list[tuple[RunFacts, UUID]]:
    """Return the newest graded runs of an experiment, oldest first, each with the id of the grading that is shown."""
    runs = Run.objects.filter(experiment=experiment, grading__isnull=False)
    if upto is not None:
        runs = runs.filter(number__lte=upto)
    wanted = runs.select_related("subject__tools", "dataset_version__dataset", "grading__dataset_version")
    wanted = wanted.order_by("-number")[:most]
    found: list[tuple[RunFacts, UUID]] = []
    before: Run | None = None
    for run in reversed(wanted):
        if run.grading_id is not None:
            found.append((_facts(run, before), run.grading_id))
            before = run
    return found


def _facts(run: Run, before: Run | None) -> RunFacts:
    now = {name: read(run) for name, read in COMPARED.items()}
    then = {name: read(before) for name, read in COMPARED.items()} if before else now
    changes = tuple(name for name in COMPARED if now[name] != then[name])
    return RunFacts(
        number=run.number,
        subject=run.subject.name,
        dataset_version=run.dataset_version_id,
        dataset=now["dataset"],
        created_at=run.created_at,
        changed=", ".join(f"{name} {now[name] or 'none'}" for name in changes),
        part=part_of(run),
        graded_on=run.grading.dataset_version_id if run.grading and _graded_elsewhere(run) else None,
        changes=changes,
    )


def _graded_elsewhere(run: Run) -> bool:
    """Return whether a run's shown grading is on a later version than its own."""
    return bool(run.grading and run.grading.dataset_version_id != run.dataset_version_id)


def part_of(run: Run) -> str:
    """Return a name of the part of its dataset version that a run takes; empty where it takes all of it."""
    return "" if run.only is None else digest(run.only)
