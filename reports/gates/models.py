"""Store gates that a project keeps, checks and previews of runs, and the badges that show the newest."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from toolevals.grading.gates.results import GateResult
from toolevals.runs.models import Experiment, Grading, Run
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Job, Project, User, untrashed, within


class NamedGateQuerySet(models.QuerySet["NamedGate"]):
    """Reads of the gates that projects keep."""

    def in_project(self, project: Project) -> NamedGateQuerySet:
        """Return the project's gates by name."""
        return self.filter(project=project).select_related("actor").order_by("name")


class HeldGateQuerySet(models.QuerySet["HeldGate"]):
    """Reads of held gates. What belongs to a preview is in no list and decides nothing."""

    def shown_in(self, project: Project) -> HeldGateQuerySet:
        """Return the project's held gates, those of previews too, with everything that a page shows."""
        return self.filter(within(project, "run")).select_related(
            "run__experiment", "run__agent", "grading__dataset_version__dataset", "baseline__run", "actor", "job"
        )

    def in_project(self, project: Project) -> HeldGateQuerySet:
        """Return the project's held gates with everything that a list shows, the newest first, without their checks."""
        return self.shown_in(project).filter(preview=None).defer("gate").order_by("-id")

    def matching(self, *, experiment: str = "", branch: str = "", status: str = "") -> HeldGateQuerySet:
        """Return those of an experiment (by slug), a branch, a status; an empty one is no condition."""
        wanted = {"run__experiment__slug": experiment, "branch": branch, "status": status}
        return self.filter(**{name: value for name, value in wanted.items() if value})

    def decided(self) -> HeldGateQuerySet:
        """Leave out those that are still at work, and those of previews."""
        return self.exclude(status="").filter(preview=None)

    def newest_of(self, experiment: Experiment) -> HeldGate | None:
        """Return the newest decided one of an experiment."""
        return (
            self.filter(untrashed("run"), untrashed("run__project"), run__experiment=experiment)
            .decided()
            .order_by("-id")
            .first()
        )

    def before(self, run: Run) -> HeldGateQuerySet:
        """Return the decided ones of other runs on the same dataset and the same part of it, the newest first."""
        others = self.filter(run__dataset_version__dataset=run.dataset_version.dataset_id, run__preset=run.preset)
        known = others.exclude(run=run).decided().filter(within(run.project_id, "run"), run__grading__isnull=False)
        return known.select_related("run__grading").order_by("-id")


class NamedGate(models.Model):
    """A gate that a project keeps under a name."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="named_gates")
    name = models.SlugField(max_length=60)
    # What is asked: the document of `gate.v1.json`.
    gate = DocumentField()
    # What a run is compared with where nothing else is said: a number, `branch:NAME`, `last-passing`, or empty.
    baseline = models.CharField(max_length=220, blank=True)
    # Who wrote it last.
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)
    updated_at = MomentField(auto_now=True)

    objects = NamedGateQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "name"], name="named_gate_name"),
        ]

    def __str__(self) -> str:
        return self.name


class GatePreview(models.Model):
    """A gate that is tried on the newest runs, saved or not. Its results stand in `held`, and decide nothing."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="gate_previews")
    name = models.CharField(max_length=60, blank=True)
    gate = DocumentField()
    baseline = models.CharField(max_length=220, blank=True)
    job = models.OneToOneField(Job, null=True, on_delete=models.SET_NULL, related_name="gate_preview")
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)

    def __str__(self) -> str:
        return f"preview of {self.name or 'a gate'}"


class HeldGate(models.Model):
    """One gate, the run that was checked by it, and how that came out. Immutable once it is decided."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="held_gates")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="held_gates")
    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="held_gates")
    # What was asked: the document of `gate.v1.json`, and under which name the project kept it, if it did.
    gate = DocumentField()
    name = models.CharField(max_length=60, blank=True)
    # The preview that this result is a part of: then it is in no list, and decides nothing.
    preview = models.ForeignKey(GatePreview, null=True, on_delete=models.CASCADE, related_name="held")
    # What the run was compared with, and how it was found: a number, `branch:NAME`, `last-passing`, or empty.
    baseline = models.ForeignKey(Grading, null=True, on_delete=models.SET_NULL, related_name="+")
    baseline_asked = models.CharField(max_length=220, blank=True)
    is_release_candidate = models.BooleanField(default=False)
    # The run with several trials of each example, of a release candidate.
    consistency = models.ForeignKey(Grading, null=True, on_delete=models.SET_NULL, related_name="+")
    # What was built, in the words of the person who asked.
    branch = models.CharField(max_length=200, blank=True)
    commit = models.CharField(max_length=64, blank=True)
    # Passed, warned, failed or unanswered; empty until it is decided.
    status = models.CharField(max_length=10, blank=True)
    # The document of `toolevals.grading.gates.results.GateResult`; null until it is decided.
    result = DocumentField(null=True)
    job = models.OneToOneField(Job, null=True, on_delete=models.SET_NULL, related_name="held_gate")
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)

    objects = HeldGateQuerySet.as_manager()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["project", "id"], name="held_gate_newest"),
            models.Index(fields=["project", "branch", "id"], name="held_gate_branch"),
        ]

    def __str__(self) -> str:
        return f"gate of run {self.run.number}"

    @property
    def outcome(self) -> GateResult | None:
        """Return how it came out, None until it is decided."""
        return None if self.result is None else GateResult.from_document(self.result)


class GateBadge(models.Model):
    """The secret address at which anyone may see whether an experiment's newest gate is passed."""

    experiment = models.OneToOneField(Experiment, on_delete=models.CASCADE, primary_key=True, related_name="gate_badge")
    key = models.CharField(max_length=43, unique=True)
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)

    def __str__(self) -> str:
        return f"badge of {self.experiment}"
