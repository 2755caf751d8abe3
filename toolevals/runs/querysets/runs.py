"""Read agents, experiments, runs and transcripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import models
from django.db.models import Count, Exists, Max, OuterRef, Subquery

from toolevals.agents.loop import End
from toolevals.runs.baseline.baseline_agents import BASELINE_AGENT, EXPERIMENT
from toolevals.workspace.models import untrashed
from toolevals.workspace.querysets.known_with import known_with

if TYPE_CHECKING:
    from toolevals.runs.models import Agent, Experiment, Run, Transcript  # noqa: F401
    from toolevals.workspace.models import Project

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
        from toolevals.runs.models import Run

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
        from labeling.models import DatasetVersion
        from toolevals.runs.models import Grading

        versions = DatasetVersion.objects.filter(dataset=OuterRef("dataset_version__dataset")).order_by("-number")
        gradings = Grading.objects.filter(run=OuterRef("pk")).order_by("-number")
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
