"""Count the cases of issues, and say what the runs since a fix say of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Q

from reports.issues.models import Issue, IssueCase
from toolevals.grading.metrics.comparison import fisher_fewer
from toolevals.grading.metrics.rates import Interval, wilson
from toolevals.runs.models import Run, VerdictCount
from toolevals.workspace.models import Project


@dataclass(frozen=True, slots=True)
class Share:
    """The number of some graded cases, and of those of them that fail so."""

    seen: int
    cases: int

    @property
    def rate(self) -> float | None:
        return self.seen / self.cases if self.cases else None

    @property
    def interval(self) -> Interval:
        return wilson(self.seen, self.cases)


@dataclass(frozen=True, slots=True)
class FixCheck:
    """An issue before the first run of an agent, and from it on; `luck` is the chance of so few without any change."""

    before: Share
    since: Share

    @property
    def luck(self) -> float:
        return fisher_fewer((self.before.seen, self.before.cases), (self.since.seen, self.since.cases))


@dataclass(frozen=True, slots=True)
class VersionCount:
    """An issue in the runs of one agent; `run` is the newest of those in which it is, else the newest."""

    agent: UUID
    name: str
    run: int
    share: Share
    first_run: int


@dataclass(frozen=True, slots=True)
class _Run:
    number: int
    agent: UUID
    agent_name: str
    dataset: UUID
    cases: int


def fix_check(issue: Issue, first: int) -> FixCheck:
    """Return how often an issue is in the graded cases of its datasets before a run, and from it on."""
    seen = seen_in([issue]).get(issue.pk, Counter())
    runs = _runs(issue.project)
    datasets = {run.dataset for run in runs if seen[run.number]}
    mine = [run for run in runs if run.dataset in datasets]
    before, since = ([run for run in mine if (run.number < first) == early] for early in (True, False))
    return FixCheck(_share(before, seen), _share(since, seen))


def by_agent(issue: Issue) -> list[VersionCount]:
    """Return an issue's share of the graded cases of its datasets for each agent, in the order of their first runs."""
    seen = seen_in([issue]).get(issue.pk, Counter())
    runs = _runs(issue.project)
    datasets = {run.dataset for run in runs if seen[run.number]}
    agents: dict[UUID, list[_Run]] = defaultdict(list)
    for run in runs:
        if run.dataset in datasets:
            agents[run.agent].append(run)
    return [
        VersionCount(
            agent,
            several[0].agent_name,
            max((run.number for run in several if seen[run.number]), default=several[-1].number),
            _share(several, seen),
            several[0].number,
        )
        for agent, several in agents.items()
    ]


def agent_runs(project: Project) -> dict[tuple[UUID, str], list[int]]:
    """Return the numbers of the graded runs of each agent, given as its id and name, in the order of first runs."""
    agents: dict[tuple[UUID, str], list[int]] = defaultdict(list)
    for run in _runs(project):
        agents[run.agent, run.agent_name].append(run.number)
    return agents


def earlier_runs(project: Project, run: int) -> list[int]:
    """Return the numbers of the graded runs of a run's dataset before it, in order."""
    runs = _runs(project)
    dataset = next((each.dataset for each in runs if each.number == run), None)
    return [each.number for each in runs if each.dataset == dataset and each.number < run]


def seen_in(issues: Iterable[Issue]) -> dict[UUID, Counter[int]]:
    """Return the cases of each issue, with those merged into it, counted by the numbers of their runs."""
    wanted = {issue.pk: issue for issue in issues}
    found: dict[UUID, Counter[int]] = defaultdict(Counter)
    if not wanted:
        return found
    project = next(iter(wanted.values())).project
    rows = IssueCase.objects.shown(project).filter(Q(issue__in=wanted) | Q(issue__merged_into__in=wanted))
    parts = rows.filter(issue__merged_into=None).order_by().values_list("issue", "grading__run__number")
    for pk, number, count in parts.annotate(count=Count("pk")):
        found[pk][number] += count
    merged = rows.exclude(issue__merged_into=None).order_by().values_list("issue__merged_into", flat=True)
    whole = set(merged.distinct())
    # A case may be in several issues that were merged: it counts once.
    for issue in [each for each in wanted.values() if each.pk in whole]:
        counted = IssueCase.objects.of_issue(issue).order_by().values_list("grading__run__number")
        found[issue.pk] = Counter(dict(counted.annotate(count=Count("case", distinct=True))))
    return found


def _runs(project: Project) -> list[_Run]:
    """Return the project's graded runs in order, with how many of their cases are scored or failed."""
    runs: Any = Run.objects.filter(project=project, grading__isnull=False).of_people().order_by("number")
    rows = runs.values_list("number", "agent", "agent__name", "dataset_version__dataset", "grading")
    counts: Counter[UUID] = Counter()
    counted = VerdictCount.objects.filter(grading__run__project=project, grading=F("grading__run__grading"))
    for grading, count in counted.filter(column="outcome").exclude(value="errored").values_list("grading", "count"):
        counts[grading] += count
    return [_Run(number, agent, name, dataset, counts[grading]) for number, agent, name, dataset, grading in rows]


def _share(runs: Iterable[_Run], seen: Counter[int]) -> Share:
    mine = list(runs)
    return Share(sum(seen[run.number] for run in mine), sum(run.cases for run in mine))
