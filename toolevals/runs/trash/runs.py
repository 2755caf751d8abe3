"""Delete runs. A tombstone of each stays, so that its number is never given again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar
from uuid import UUID

from django.db import models
from django.db.models import Count, Q

from labeling.models import Dataset
from toolevals.registry.models import Registry
from toolevals.runs.models import CaseGrade, Grading, JudgeCalibration, Run, Transcript, Tryout, VerdictCount
from toolevals.workspace.models import Project
from toolevals.workspace.trash.kinds import TrashKind, counted
from toolevals.workspace.trash.parts import children_delete, delete_in_parts


class Runs(TrashKind):
    """Runs that people started. Baseline agents go with their dataset."""

    name: ClassVar[str] = "run"
    model: ClassVar[type[Any]] = Run

    def rows(self, project: Project) -> models.QuerySet[Any]:
        related = "agent", "dataset_version__dataset", "deleted_by"
        return super().rows(project).filter(baseline_agent="").select_related(*related)

    def key(self, row: Any) -> str:
        return str(row.number)

    def title(self, row: Any) -> str:
        return f"run {row.number} of {row.agent.name}"

    def takes(self, row: Any) -> Sequence[tuple[int, str, str]]:
        return [
            (row.transcripts.count(), "transcript", "transcripts"),
            (row.gradings.count(), "grading", "gradings"),
            (row.held_gates.count(), "gate that checked it", "gates that checked it"),
        ]

    def rests(self, row: Any) -> Iterable[str]:
        gradings = row.gradings.values("pk")
        gates = _others_gates(row, gradings)
        if gates:
            words = counted(gates, "gate of another run compares", "gates of other runs compare")
            yield f"{words} with it. What was decided stays, and names it as deleted."
        calibrations = JudgeCalibration.objects.filter(grading__in=gradings).count()
        if calibrations:
            words = counted(calibrations, "calibration of a judge was", "calibrations of judges were")
            yield f"{words} drawn from it. The figures stay; the cases go."
        repeated = row.repeated_by.count()
        if repeated:
            yield f"{counted(repeated, 'run repeats', 'runs repeat')} what failed in it, which does not change."
        yield f"The number {row.number} is given to no other run."

    def ids(self, row: Any) -> Iterable[UUID]:
        gradings = list(row.gradings.values_list("pk", flat=True))
        yield row.pk
        yield from gradings
        yield from row.held_gates.values_list("pk", flat=True)
        for drawn in (JudgeCalibration, Tryout):
            yield from drawn._base_manager.filter(grading__in=gradings).values_list("pk", flat=True)

    def namesake(self, row: Any) -> bool:
        return False

    def remains(self, row: Any) -> dict[str, Any]:
        outcomes = VerdictCount.objects.filter(grading=row.grading_id, column="outcome").order_by("value")
        return {
            "transcripts": row.transcripts.count(),
            "gradings": row.gradings.count(),
            "agent": row.agent.name,
            "agent_digest": row.agent.digest,
            "dataset_version": str(row.dataset_version),
            "outcomes": dict(outcomes.values_list("value", "count")),
        }

    def left(self, row: Any) -> int:
        return Transcript.objects.filter(run=row).count() + CaseGrade.objects.filter(grading__run=row).count()

    def destroy(self, row: Any, until: float) -> bool:
        return run_empty(row, until)

    def finish(self, row: Any) -> bool:
        # Their versions, and the tools of their agents, may have been kept for it alone.
        dataset = Dataset.with_trash.select_for_update(no_key=True, of=("self",)).filter(
            pk=row.dataset_version.dataset_id
        )
        for each in dataset:
            Dataset.with_trash.filter(pk=each.pk).exclude(destroyed_at=None).update(destroyed_at=None)
        registries_look_again(row.project_id)
        return True


def run_empty(run: Run, until: float) -> bool:
    """Destroy what a run holds, all but its row, its gradings' and the closed calibrations'; return whether it is gone.

    What names a grading as its baseline, and what a calibration came to, keep what they refer to.
    """
    for grading in Grading.objects.filter(run=run).order_by("number"):
        if not children_delete(grading, until, keep=[JudgeCalibration]):
            return False
    if not delete_in_parts(Transcript.objects.filter(run=run), until):
        return False
    if not children_delete(run, until, keep=[Grading, Transcript]):
        return False
    Run.with_trash.filter(pk=run.pk).update(settings={}, only=None)
    return True


def run_remove(run: Run, until: float) -> bool:
    """Destroy a run with its row; return whether it is gone."""
    if not run_empty(run, until):
        return False
    run.delete()
    return True


def registries_look_again(project: UUID) -> None:
    """Have the tombstones of registries destroyed again: what was kept for something else may be free now."""
    Registry.with_trash.filter(project=project).exclude(destroyed_at=None).update(destroyed_at=None)


def _others_gates(run: Any, gradings: Any) -> int:
    """Return how many gates of other runs name a grading of this run."""
    gates = run.held_gates.model.objects.exclude(run=run)
    counts: dict[str, int] = gates.filter(Q(baseline__in=gradings) | Q(consistency__in=gradings)).aggregate(
        n=Count("pk")
    )
    return counts["n"]
