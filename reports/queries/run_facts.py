"""Read runs as trends name them, and what changed from each to the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.db.models import QuerySet

from reports.analyses.trend import RunFacts
from toolevals.grading.values.canonical import digest
from toolevals.runs.counts.spending import Spending
from toolevals.runs.models import Run

# What of an agent or its dataset is told apart: label -> how to read it from a run.
COMPARED: Final[dict[str, Callable[[Run], str]]] = {
    "agent": lambda run: run.agent.name,
    "model": lambda run: run.agent.model,
    "prompt": lambda run: run.agent.prompt_version,
    "commit": lambda run: run.agent.commit[:10],
    "tools": lambda run: f"v{run.agent.tools.number}" if run.agent.tools else "",
    "dataset": lambda run: f"{run.dataset_version.dataset.name} v{run.dataset_version.number}",
    "examples": lambda run: "all" if run.only is None else f"{run.size} of {run.dataset_version.size}",
    "gold": lambda run: f"v{run.grading.dataset_version.number}" if run.grading and _graded_elsewhere(run) else "",
}
# All that is read of a run: the rest of these rows is many times as long.
READ: Final = (
    *("number", "created_at", "only", "trials"),
    *("experiment__slug", "agent__name", "agent__model", "agent__prompt_version", "agent__commit"),
    *("agent__tools__number", "agent__tools__registry"),
    *("dataset_version__number", "dataset_version__size", "dataset_version__dataset__name"),
    *("grading__graders", "grading__spending", "grading__dataset_version__number"),
)


def recent_runs(runs: QuerySet[Run], *, most: int, upto: int | None = None) -> list[RunFacts]:
    """Return the newest graded ones of some runs, oldest first, as they stand in their shown gradings. One query."""
    wanted = runs.filter(grading__isnull=False)
    if upto is not None:
        wanted = wanted.filter(number__lte=upto)
    read = wanted.select_related(
        "experiment", "agent__tools", "dataset_version__dataset", "grading__dataset_version"
    ).only(*READ)
    facts: list[RunFacts] = []
    before: Run | None = None
    for run in reversed(read.order_by("-number")[:most]):
        facts.append(_facts(run, before))
        before = run
    return facts


def _facts(run: Run, before: Run | None) -> RunFacts:
    now = {name: read(run) for name, read in COMPARED.items()}
    then = {name: read(before) for name, read in COMPARED.items()} if before else now
    new = {name: now[name] or "none" for name in COMPARED if now[name] != then[name]}
    graders = _graders(run)
    if before and (other := [f"{name} {graders[name]}" for name in _regraded(before, run)]):
        new["graders"] = ", ".join(other)
    return RunFacts(
        number=run.number,
        agent=run.agent.name,
        dataset_version=run.dataset_version_id,
        dataset=now["dataset"],
        created_at=run.created_at,
        changed=", ".join(f"{name} {value}" for name, value in new.items()),
        part=part_of(run),
        graded_on=run.grading.dataset_version_id if run.grading and _graded_elsewhere(run) else None,
        changes=tuple(new),
        grading=run.grading_id,
        graders=graders,
        experiment=run.experiment.slug,
        registry=run.agent.tools.registry_id if run.agent.tools else None,
        trials=run.trials,
        took=Spending.of(run.grading.spending if run.grading else None),
    )


def _regraded(before: Run, run: Run) -> list[str]:
    """Return the graders that both runs know, in another version now."""
    then, now = _graders(before), _graders(run)
    return sorted(name for name in then.keys() & now.keys() if then[name] != now[name])


def _graders(run: Run) -> dict[str, str]:
    return {each["name"]: str(each["version"]) for each in run.grading.graders} if run.grading else {}


def _graded_elsewhere(run: Run) -> bool:
    """Return whether a run's shown grading is on a later version than its own."""
    return bool(run.grading and run.grading.dataset_version_id != run.dataset_version_id)


def part_of(run: Run) -> str:
    """Return a name of the part of its dataset version that a run takes; empty where it takes all of it."""
    return "" if run.only is None else digest(run.only)
