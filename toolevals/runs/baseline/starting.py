"""Start the baseline agents of dataset versions: a regular duty of the workers, once for each version."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q

from labeling.models import DatasetVersion, VersionEntry
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.agents.services import agent_ensure, experiment_ensure
from toolevals.runs.baseline.baseline_agents import EXPERIMENT, VERSION, BaselineAgent, Expected, expected_of
from toolevals.runs.models import Connector, Run, VerdictCount
from toolevals.runs.runs.repeating import errored_ask_again
from toolevals.runs.runs.services import RunParts, baseline_agent_start
from toolevals.workspace.models import Project, untrashed

# Versions in one turn of the duty: reading their gold takes a moment each.
TURN = 5
# Where grading broke on our side it is tried again after a pause, at most so often in all.
PAUSE, MOST_TIMES = timedelta(hours=1), 4
# A version that was just frozen is often run at once, and that goes first.
SETTLED = timedelta(minutes=1)


def baseline_agents_due(now: datetime) -> None:
    """Start the baseline agents that are missing: of each newest version, and of those that people run on."""
    newer = DatasetVersion.objects.filter(dataset=OuterRef("dataset"), number__gt=OuterRef("number"))
    runs = Run.objects.filter(dataset_version=OuterRef("pk"))
    wanted = DatasetVersion.objects.filter(
        untrashed("dataset"),
        untrashed("dataset__project"),
        ~Exists(runs.exclude(baseline_agent="")),
        Q(~Exists(newer)) | Q(Exists(runs.filter(baseline_agent=""))),
        size__gt=0,
        created_at__lt=now - SETTLED,
    )
    for version in wanted.select_related("dataset__project").order_by("pk")[:TURN]:
        baseline_agents_start(version=version)
    _errored_again(now)


def _errored_again(now: datetime) -> None:
    """Re-grade the baseline agents whose grading broke on our side: without a score they say nothing."""
    errored = VerdictCount.objects.filter(
        grading=OuterRef("grading"), column__in=("outcome", "execution"), value="errored", count__gt=0
    )
    baseline_agents = Run.objects.exclude(baseline_agent="").filter(
        Exists(errored), untrashed("dataset_version__dataset"), grading__finished_at__lt=now - PAUSE
    )
    for run in baseline_agents.annotate(times=Count("gradings")).filter(times__lt=MOST_TIMES).order_by("pk")[:TURN]:
        # Another worker may have begun, or nothing is errored that grading again can mend.
        with suppress(InvalidDocument):
            errored_ask_again(run=run, actor=None)


def baseline_agents_start(*, version: DatasetVersion) -> list[Run]:
    """Start the baseline agents of a version that are not there yet and return them. Safe in a race."""
    entries = VersionEntry.objects.filter(version=version).order_by("position")
    # Read before the transaction: a long one would hold up whoever writes.
    expected = expected_of(entries.values_list("gold__expectation", flat=True).iterator(chunk_size=1000))
    with transaction.atomic():
        project = Project.objects.select_for_update(no_key=True).get(pk=version.dataset.project_id)
        there = set(version.runs.exclude(baseline_agent="").values_list("baseline_agent", flat=True))
        missing = [agent for agent in expected.baseline_agents if agent not in there]
        return [_start(project, version, agent, expected) for agent in missing]


def _start(project: Project, version: DatasetVersion, baseline_agent: BaselineAgent, expected: Expected) -> Run:
    agent = agent_ensure(
        project=project,
        actor=None,
        name=baseline_agent.label,
        connector=Connector.BASELINE_AGENT,
        options={"baseline_agent": baseline_agent.value, "version": VERSION},
    )
    parts = RunParts(
        project=project,
        actor=None,
        experiment=experiment_ensure(project=project, actor=None, slug=EXPERIMENT, name="Baseline agents"),
        agent=agent,
        dataset_version=version,
    )
    return baseline_agent_start(parts, baseline_agent=baseline_agent, frequent=expected.tools)
