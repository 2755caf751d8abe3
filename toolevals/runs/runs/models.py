"""Store agents, experiments, runs and transcripts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import UUID

from django.apps import apps
from django.db import models
from django.db.models import Count, Exists, Max, OuterRef, Subquery

from labeling.models import DatasetVersion, VersionEntry
from toolevals.agents.connectors import CONNECTORS
from toolevals.agents.loop import End
from toolevals.grading.engine.grading import CutOff
from toolevals.registry.models import RegistryVersion
from toolevals.runs.aggregates.spending import ENDINGS
from toolevals.runs.baseline import baseline_agents
from toolevals.runs.baseline.baseline_agents import BASELINE_AGENT, EXPERIMENT
from toolevals.runs.live.settings import cut_off_in
from toolevals.runs.runs.presets import PRESETS
from toolevals.runs.simulators.models import Simulator
from toolevals.workspace.expressions import known_with
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Job, Project, Trashable, Untrashed, User, untrashed

# Of the runs of an agent or an experiment.
_SHOWN = untrashed("runs")


class AgentQuerySet(models.QuerySet["Agent"]):
    """Reads of agents."""

    def in_project(self, project: Project) -> AgentQuerySet:
        """Return the project's agents, the newest first, without the baseline agents."""
        agents = self.filter(project=project).exclude(connector=BASELINE_AGENT)
        return agents.select_related("tools__registry").order_by("-id")

    def with_runs(self) -> Any:
        """Add `run_count`, `last_run`, the number of the newest run or None, and `is_graded`, whether any run is."""
        return self.annotate(
            run_count=Count("runs", filter=_SHOWN),
            last_run=Max("runs__number", filter=_SHOWN),
            is_graded=Exists(Run.objects.filter(agent=OuterRef("pk"), grading__isnull=False)),
        )


class ExperimentQuerySet(models.QuerySet["Experiment"]):
    """Reads of experiments."""

    def in_project(self, project: Project) -> ExperimentQuerySet:
        """Return the project's experiments, the newest first, without that of the baseline agents."""
        return self.filter(project=project).exclude(slug=EXPERIMENT).order_by("-id")

    def with_runs(self) -> Any:
        """Add `run_count`, `last_run`, the number of the newest run or None, and `last_run_at`."""
        return self.annotate(
            run_count=Count("runs", filter=_SHOWN),
            last_run=Max("runs__number", filter=_SHOWN),
            last_run_at=Max("runs__created_at", filter=_SHOWN),
        )


class RunQuerySet(models.QuerySet["Run"]):
    """Reads of runs."""

    def in_project(self, project: Project) -> RunQuerySet:
        """Return the project's runs, the newest first, with everything that a list shows loaded."""
        return self.filter(project=project).with_everything().order_by("-number")

    def of_people(self) -> RunQuerySet:
        """Leave out the baseline agents, which are started with a dataset version and not by anyone."""
        return self.filter(baseline_agent="")

    def with_everything(self) -> RunQuerySet:
        """Load experiment, agent, dataset version, shown grading and job with each run."""
        return self.select_related(
            "experiment",
            "failing_of",
            "agent__tools__registry",
            "dataset_version__dataset",
            "grading__dataset_version",
            "job",
            "actor",
        )

    def of_experiment(self, slug: str) -> RunQuerySet:
        """Return the runs of the experiment of that slug; all of them where it is empty."""
        return self.filter(experiment__slug=slug) if slug else self

    def with_newest(self) -> Any:
        """Add `newest_version`, the number of the dataset's newest version, and `newest_grading`, of any state."""
        versions = DatasetVersion.objects.filter(dataset=OuterRef("dataset_version__dataset")).order_by("-number")
        gradings = apps.get_model("runs", "Grading").objects.filter(run=OuterRef("pk")).order_by("-number")
        return self.annotate(
            newest_version=Subquery(versions.values("number")[:1]),
            newest_grading=Subquery(gradings.values("pk")[:1]),
        )


class TranscriptQuerySet(models.QuerySet["Transcript"]):
    """Reads of transcripts."""

    def of_run(self, run: Run) -> TranscriptQuerySet:
        """Return the run's transcripts in the order of its dataset version, then by trial; none that was replaced."""
        return self.filter(run=run, replaced_at=None).order_by("entry__position", "trial")

    def between(self, run: UUID, version: UUID, start: int, stop: int) -> TranscriptQuerySet:
        """Return the run's transcripts of its version's entries from position `start` up to `stop`, by trial.

        PostgreSQL looks up those of each entry: see `known_with`.
        """
        entries = self.filter(entry__version=version, entry__position__gte=start, entry__position__lt=stop)
        return entries.filter(run=known_with("entry__position", run), replaced_at=None).order_by("trial")

    def errored(self) -> TranscriptQuerySet:
        """Return those of conversations whose agent, user or simulator could not be reached."""
        return self.filter(ended=End.UNREACHABLE.value)


class Connector(models.TextChoices):
    """Names the ways in which an agent's transcripts are had."""

    UPLOAD = "upload", "uploaded predictions"
    BASELINE = "baseline", "the built-in baseline"
    OPENAI = "openai", CONNECTORS["openai"].words
    ANTHROPIC = "anthropic", CONNECTORS["anthropic"].words
    WEBHOOK = "webhook", CONNECTORS["webhook"].words
    BASELINE_AGENT = baseline_agents.BASELINE_AGENT, "a baseline agent"


class Agent(models.Model):
    """An agent in one exact state: model, prompt, commit and the tools it is given. Immutable, by content."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="agents")
    name = models.CharField(max_length=120)
    connector = models.CharField(max_length=20, choices=Connector.choices)
    model = models.CharField(max_length=120, blank=True)
    prompt_version = models.CharField(max_length=60, blank=True)
    commit = models.CharField(max_length=64, blank=True)
    # Where its tools are worded otherwise than the dataset's.
    tools = models.ForeignKey(RegistryVersion, null=True, on_delete=models.PROTECT, related_name="+")
    # What the connector needs to know.
    options = DocumentField(default=dict)
    # SHA-256 over all of the above.
    digest = models.CharField(max_length=64)
    created_at = MomentField(auto_now_add=True)

    objects = AgentQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "digest"], name="agent_digest"),
        ]

    def __str__(self) -> str:
        return self.name


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
    # The preset (`toolevals.runs.runs.presets`) that chose these positions; empty where none did.
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
        """Return what becomes of how to grade conversations that stopped early before their end."""
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
    # In the currency of the run's prices, or of uploaded messages that say their costs; null where nothing says it.
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
