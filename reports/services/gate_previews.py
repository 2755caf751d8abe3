"""Tell what a gate would have said of the newest runs: asked before or after it is saved, decided by a job."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.urls import reverse

from reports.models import GatePreview, HeldGate
from reports.services.gates import baseline_of, decision_plan, gate_read, require_baseline
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.models import Grading, Run
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.jobs.services import job_create
from toolevals.workspace.models import Project, User

MOST_RUNS: Final = 10
# So long are results of previews kept.
KEPT: Final = timedelta(days=7)
_DELETED_AT_ONCE: Final = 50


@transaction.atomic
def gate_preview_start(
    *, project: Project, actor: User | None, gate: Any, baseline: str = "", name: str = "", experiment: str = ""
) -> GatePreview:
    """Hold the newest graded runs, of one experiment or of all, against a gate without any consequence.

    Each run is decided by a batch of the job. A run is compared with what came before it. Raises InvalidDocument where
    the gate is none, or no run is graded.
    """
    gate_read(gate)
    require_baseline(baseline)
    runs = Run.objects.in_project(project).of_people().of_experiment(experiment)
    runs = runs.filter(grading__finished_at__isnull=False)[:MOST_RUNS]
    graded = [(run, run.grading) for run in runs if run.grading is not None]
    if not graded:
        of_experiment = f" of the experiment {experiment}" if experiment else ""
        raise InvalidDocument.at("", f"There is no graded run{of_experiment} yet: start one first.")
    preview = GatePreview(project=project, name=name, gate=gate, baseline=baseline, actor=actor)
    held = [
        HeldGate(
            project=project,
            run=run,
            grading=grading,
            gate=gate,
            name=name,
            preview=preview,
            baseline=_baseline(run, baseline),
            baseline_asked=baseline,
            actor=actor,
        )
        for run, grading in graded
    ]
    preview.job = job_create(
        project=project,
        actor=actor,
        kind="gate_preview",
        title=f"Preview of the gate {name}" if name else "Preview of a gate",
        batches=[decision_plan(each) for each in held],
        result_path=reverse("reports:gate-preview", args=[project.slug, preview.pk]),
    )
    preview.save(force_insert=True)
    HeldGate.objects.bulk_create(held)
    detail = {"runs": [run.number for run, _ in graded]} | ({"name": name} if name else {})
    audit_record(project=project, actor=actor, verb="gate_preview_start", target=preview, detail=detail)
    return preview


def gate_previews_forget(now: datetime) -> int:
    """Delete the oldest previews that were kept long enough, with their results; return how many."""
    old = GatePreview.objects.filter(created_at__lt=now - KEPT).order_by("pk").values_list("pk", flat=True)
    some = list(old[:_DELETED_AT_ONCE])
    GatePreview.objects.filter(pk__in=some).delete()
    return len(some)


def _baseline(run: Run, said: str) -> Grading | None:
    """Return what came before a run; None where the run that is named is itself, or of another dataset."""
    try:
        baseline = baseline_of(run, said, earlier=True)
    except InvalidDocument:
        return None
    return None if baseline is None or baseline.run_id == run.pk else baseline
