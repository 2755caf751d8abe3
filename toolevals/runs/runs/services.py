"""Start a run: its part of the version, its row, its first grading and the job for both, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from django.db import transaction
from django.db.models import Max

from labeling.models import DatasetVersion, VersionEntry
from toolevals.agents.connectors import CONNECTORS
from toolevals.grading.engine.grading import CutOff
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping
from toolevals.runs.baseline.baseline_agents import FIRST_NUMBER, BaselineAgent
from toolevals.runs.grading.services import grading_make
from toolevals.runs.live.settings import LiveSettings
from toolevals.runs.models import Agent, CaseGrade, Connector, Experiment, Run, Simulator
from toolevals.runs.runs.presets import HARD, Candidate, Preset, chosen_positions
from toolevals.runs.runs.slices import converse_plans, grade_plans, ingest_plan, produce_plans
from toolevals.workspace.addresses import address
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Project, Upload, User

MAX_TRIALS = 64


def preset_positions(version: DatasetVersion, preset: Preset) -> list[int]:
    """Return the positions of the examples that a preset takes.

    The last run is the newest graded one that people made over all of the version; without one nothing has failed.
    """
    runs = Run.objects.of_people().filter(dataset_version=version, grading__isnull=False, only__isnull=True)
    last = runs.order_by("-number").values_list("grading", flat=True).first()
    cases = CaseGrade.objects.filter(grading=last, outcome="failed") if last else CaseGrade.objects.none()
    failed = set(cases.values_list("transcript__entry", flat=True))
    rows = VersionEntry.objects.filter(version=version).order_by("position")
    examples = rows.values_list("position", "pk", "revision__example__external_id", "revision__example__difficulty")
    candidates = (
        Candidate(position, external_id, difficulty.casefold() == HARD, entry in failed)
        for position, entry, external_id, difficulty in examples.iterator(chunk_size=2000)
    )
    return chosen_positions(candidates, preset.examples)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunParts:
    """The parts of every run.

    With `failing_of`, only the examples that failed in that run are taken; with a preset those that it chooses, as
    often as it says; with `only` those at some positions of the version, in order.
    """

    project: Project
    actor: User | None
    experiment: Experiment
    agent: Agent
    dataset_version: DatasetVersion
    trials: int = 1
    failing_of: Run | None = None
    preset: Preset | None = None
    only: tuple[int, ...] | None = None

    def of(self, agent: Agent) -> RunParts:
        """Return the same for another agent."""
        return replace(self, agent=agent)


def run_start(parts: RunParts) -> Run:
    """Start a run of the built-in baseline; `run.job` shows how far it is. Raises InvalidDocument."""
    if parts.agent.connector != Connector.BASELINE:
        raise InvalidDocument.at("/agent", "is not the baseline: upload its predictions instead")
    return _start(parts, lambda run: produce_plans(run, stage=0))


def baseline_agent_start(parts: RunParts, *, baseline_agent: BaselineAgent, frequent: Sequence[str]) -> Run:
    """Start the run of a baseline agent; `frequent` are the tools that the version expects, the most frequent first."""
    settings = {"frequent": list(frequent)} if baseline_agent is BaselineAgent.FREQUENT else None
    return _start(parts, lambda run: produce_plans(run, stage=0), settings=settings, baseline_agent=baseline_agent)


def run_converse(parts: RunParts, *, settings: LiveSettings) -> Run:
    """Start a run that asks its agent while it lasts; `run.job` shows how far it is. Raises InvalidDocument."""
    if parts.agent.connector not in CONNECTORS:
        raise InvalidDocument.at("/agent", "is not one that can be asked")
    return _start(
        parts,
        lambda run: converse_plans(run, stage=0),
        settings=settings.to_document(),
        simulator=Simulator.objects.of_dataset(parts.dataset_version.dataset),
    )


def run_upload(parts: RunParts, *, upload: Upload, cut_off: CutOff = "failed") -> Run:
    """Start a run of uploaded predictions; `run.job` shows how far it is, and the file's errors by line.

    A prediction belongs to an example by its external id and to a trial from 0 to `trials` - 1. An unknown or repeated
    pair refuses the whole file; a pair without prediction is unscored. Raises InvalidDocument.
    """
    if parts.agent.connector != Connector.UPLOAD:
        raise InvalidDocument.at("/agent", "is the built-in baseline: start a baseline run instead")
    if upload.project_id != parts.project.pk:
        raise InvalidDocument.at("/upload", "is not a file of this project")
    settings = {"cut_off": cut_off} if cut_off != "failed" else None
    return _start(parts, lambda run: [ingest_plan(run, upload.pk, stage=0)], settings=settings)


@transaction.atomic
def _start(
    parts: RunParts,
    first_stage: Callable[[Run], Iterable[BatchPlan]],
    *,
    settings: JsonMapping | None = None,
    simulator: Simulator | None = None,
    baseline_agent: str = "",
) -> Run:
    """Make the run, grading 1 and the job: transcripts in stage 0, grades in stage 1, counts in stage 2."""
    _check(parts)
    project, actor, version = parts.project, parts.actor, parts.dataset_version
    # One at a time: the numbers have no gap and no double.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    run = Run.objects.create(
        project=project,
        number=_next_number(project, baseline_agent),
        experiment=parts.experiment,
        agent=parts.agent,
        dataset_version=version,
        failing_of=parts.failing_of,
        only=_only(parts),
        preset=parts.preset.name if parts.preset else "",
        trials=parts.preset.trials if parts.preset else parts.trials,
        settings=dict(settings or {}),
        simulator=simulator,
        baseline_agent=baseline_agent,
        actor=actor,
    )
    grading = grading_make(run=run, dataset_version=version, actor=actor)
    run.job = grading.job = job_create(
        project=project,
        actor=actor,
        kind="baseline_agent" if baseline_agent else "run",
        title=f"{_called(run)} on {version.dataset.name} v{version.number}",
        # No one waits for a baseline agent.
        priority=-1 if baseline_agent else 0,
        batches=[*first_stage(run), *grade_plans(grading, stage=1)],
        result_path=address("reports:run", project.slug, run.number),
    )
    run.save(update_fields=["job"])
    grading.save(update_fields=["job"])
    detail = {"number": run.number, "agent": parts.agent.name, "connector": parts.agent.connector}
    audit_record(project=project, actor=actor, verb="run_start", target=run, detail=detail | {"trials": run.trials})
    return run


def _next_number(project: Project, baseline_agent: str) -> int:
    """Return the number after the last; baseline agents count apart, far above, so that people's runs have no gap."""
    # What was deleted keeps its number.
    every = Run.with_trash.filter(project=project)
    alike = every.exclude(baseline_agent="") if baseline_agent else every.filter(baseline_agent="")
    return (alike.aggregate(last=Max("number"))["last"] or (FIRST_NUMBER if baseline_agent else 0)) + 1


def _called(run: Run) -> str:
    return f"Baseline agent: {run.agent.name}" if run.baseline_agent else f"Run {run.number}: {run.agent.name}"


def _only(parts: RunParts) -> list[int] | None:
    """Return the positions that the run takes, None where it takes all. Raises InvalidDocument."""
    if parts.preset and parts.failing_of:
        raise InvalidDocument.at("/preset", "chooses its examples itself: leave out either this or failing_of")
    if parts.only is not None:
        return list(parts.only)
    if parts.preset:
        return preset_positions(parts.dataset_version, parts.preset)
    return failing_positions(parts.failing_of) if parts.failing_of else None


def failing_positions(run: Run) -> list[int]:
    """Return the positions of the examples that failed in any trial of a run. Raises InvalidDocument where none did."""
    cases = CaseGrade.objects.filter(grading=run.grading_id, outcome="failed")
    failing = cases.order_by("transcript__entry__position").values_list("transcript__entry__position", flat=True)
    positions = list(failing.distinct())
    if not positions:
        raise InvalidDocument.at("/failing_of", f"Run {run.number} has no failed cases.")
    return positions


def _check(parts: RunParts) -> None:
    if not 1 <= parts.trials <= MAX_TRIALS:
        raise InvalidDocument.at("/trials", f"must be from 1 to {MAX_TRIALS}")
    if parts.dataset_version.dataset.is_deleted:
        raise InvalidDocument.at("/dataset_version", "is of a dataset that was deleted")
    owners = {
        "/experiment": parts.experiment.project_id,
        "/agent": parts.agent.project_id,
        "/dataset_version": parts.dataset_version.dataset.project_id,
    }
    if parts.failing_of:
        owners["/failing_of"] = parts.failing_of.project_id
        if parts.failing_of.dataset_version_id != parts.dataset_version.pk:
            raise InvalidDocument.at("/failing_of", "is a run on another dataset version")
    for pointer, owner in owners.items():
        if owner != parts.project.pk:
            raise InvalidDocument.at(pointer, "is not of this project")
