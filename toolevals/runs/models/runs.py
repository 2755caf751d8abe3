"""Runs and the transcripts in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from django.db import models

from labeling.models import DatasetVersion, VersionEntry
from toolevals.grading.engine.grading import CutOff
from toolevals.runs.counts.stop_reasons import ENDINGS
from toolevals.runs.live.settings import cut_off_in
from toolevals.runs.models.agents import Agent
from toolevals.runs.models.simulators import Simulator
from toolevals.runs.querysets.runs import ExperimentQuerySet, RunQuerySet, TranscriptQuerySet
from toolevals.runs.scope.presets import PRESETS
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Job, Project, Trashable, Untrashed, User


class Experiment(models.Model):
    """A named line of runs that are looked at together."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="experiments")
    slug = models.SlugField(max_length=60)
    name = models.CharField(max_length=120)
    created_at = MomentField(auto_now_add=True)

    objects = ExperimentQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "slug"], name="experiment_slug"),
        ]

    def __str__(self) -> str:
        return self.name


class Run(Trashable):
    """One evaluation of an agent over a dataset version, some trials for each example."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="runs")
    # People's name for it: "run 42".
    number = models.PositiveIntegerField()
    experiment = models.ForeignKey(Experiment, on_delete=models.PROTECT, related_name="runs")
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="runs")
    dataset_version = models.ForeignKey(DatasetVersion, on_delete=models.PROTECT, related_name="runs")
    # The run whose failing examples this one takes, and their positions in the version, in order; null: all examples.
    failing_of = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="repeated_by")
    only = DocumentField(null=True)
    # The preset (`toolevals.runs.scope.presets`) that chose these positions; empty where none did.
    preset = models.CharField(max_length=20, blank=True, db_default="")
    trials = models.PositiveSmallIntegerField(default=1)
    # The baseline agent whose run it is (`baseline.baseline_agents.BaselineAgent`); empty for runs that people start.
    baseline_agent = models.CharField(max_length=10, blank=True, db_default="")
    # Of a run that asks its agent: see `toolevals.runs.live.settings`.
    settings = DocumentField(default=dict)
    # What stood behind the tools of such a run: the dataset's simulator when it began.
    simulator = models.ForeignKey(Simulator, null=True, on_delete=models.PROTECT, related_name="runs")
    job = models.OneToOneField(Job, null=True, on_delete=models.SET_NULL, related_name="run")
    # The newest finished grading: what is shown.
    grading = models.OneToOneField("runs.Grading", null=True, on_delete=models.SET_NULL, related_name="+")
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)

    objects = Untrashed.from_queryset(RunQuerySet)()
    with_trash = RunQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["-number"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "number"], name="run_number"),
            models.UniqueConstraint(
                fields=["dataset_version", "baseline_agent"],
                condition=~models.Q(baseline_agent=""),
                name="one_baseline_agent_a_version",
            ),
        ]

    def __str__(self) -> str:
        return f"baseline agent: {self.agent.name}" if self.baseline_agent else f"run {self.number}"

    @property
    def cut_off(self) -> CutOff:
        """Return what becomes of conversations that were cut before their end."""
        return cut_off_in(self.settings.get("cut_off") or "failed")

    @property
    def positions(self) -> Sequence[int]:
        """The places in the dataset version of the examples that it takes, in order."""
        return range(self.dataset_version.size) if self.only is None else self.only

    @property
    def preset_words(self) -> str:
        """Return what the preset is, in words; empty without one."""
        return PRESETS[self.preset].words if self.preset in PRESETS else ""

    @property
    def size(self) -> int:
        """Return how many examples it takes."""
        return len(self.positions)


class Transcript(models.Model):
    """Stores what the agent did in one trial of one example."""

    id = PublicIdField()
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="transcripts")
    entry = models.ForeignKey(VersionEntry, on_delete=models.PROTECT, related_name="+")
    trial = models.PositiveSmallIntegerField(default=0)
    # The document of `toolevals.grading.values.Transcript`; null where no prediction came: unscored.
    document = DocumentField(null=True)
    # Why the conversation ended (`toolevals.agents.loop.End`, BUDGET); of an uploaded one why it was cut, if it was.
    ended = models.CharField(max_length=12, blank=True, db_default="")
    # The snapshot that the endpoint says has answered.
    model = models.CharField(max_length=120, blank=True, db_default="")
    # In the currency of the run's prices; null where there are none.
    cost = models.FloatField(null=True)
    # What the source of a recorded run rewarded the trial with, success is 1; null where no one did.
    reward = models.FloatField(null=True)
    # Of the whole conversation; null where it does not say.
    tokens_in = models.PositiveIntegerField(null=True)
    tokens_out = models.PositiveIntegerField(null=True)
    tokens_cached = models.PositiveIntegerField(null=True)
    latency_ms = models.FloatField(null=True)
    created_at = MomentField(auto_now_add=True)
    # When the trial was asked again, because the agent could not be reached; only earlier gradings know it since.
    replaced_at = models.DateTimeField(null=True)

    objects = TranscriptQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["run", "entry", "trial"],
                condition=models.Q(replaced_at__isnull=True),
                name="one_transcript_a_trial",
            ),
        ]

    @property
    def ended_because(self) -> str:
        """Return why the conversation ended, where it does not show that itself."""
        return ENDINGS.get(self.ended, "")


class RunPace(models.Model):
    """The earliest time of the next request of a live run: the row that its workers take turns at."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="pace")
    next_at = models.DateTimeField()
