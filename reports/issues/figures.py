"""Count the cases and traces of issues, and say what the runs since a fix say of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, F, Q
from django.db.models.functions import Coalesce

from reports.issues.models import Issue, IssueCase, IssueTrace
from toolevals.grading.metrics.comparison import fisher_fewer
from toolevals.grading.metrics.rates import Interval, wilson
from toolevals.runs.models import Agent, Run, VerdictCount
from toolevals.traces.production.version_counts import Version, version_counts
from toolevals.workspace.models import Project

# What a trace says of whom it was with.
_WHO: Final = ("end_user", "session")


@dataclass(frozen=True, slots=True)
class Share:
    """The number of some graded cases or traces, and of those of them that fail so."""

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
    """An issue before the first run of an agent, and from it on; `luck` is the chance of so few without any change.

    The shares are of "cases" that are graded, or of "traces" where the issue is in no case, as `of` says. `traces` are
    those of the agent in production that fail so.
    """

    before: Share
    since: Share
    of: str
    traces: int

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


def fix_check(issue: Issue, agent: Agent | None, first: int) -> FixCheck:
    """Return how often an issue is in the graded cases of its datasets before an agent's first run, and from it on.

    Where it is in no case, in the traces of other versions, and in those of the agent.
    """
    seen = seen_in([issue]).get(issue.pk, Counter())
    in_traces = versions_of(issue)
    fixed = {each for each in in_traces if agent is not None and is_version(agent, *each)}
    traces = sum(in_traces[each].seen for each in fixed)
    if not seen:
        since, before = (
            [share for each, share in in_traces.items() if (each in fixed) == late] for late in (True, False)
        )
        return FixCheck(_sum(before), _sum(since), "traces", traces)
    runs = _runs(issue.project)
    datasets = {run.dataset for run in runs if seen[run.number]}
    mine = [run for run in runs if run.dataset in datasets]
    earlier, later = ([run for run in mine if (run.number < first) == early] for early in (True, False))
    return FixCheck(_share(earlier, seen), _share(later, seen), "cases", traces)


def _sum(shares: Sequence[Share]) -> Share:
    return Share(sum(each.seen for each in shares), sum(each.cases for each in shares))


def is_version(agent: Agent, name: str, version: str) -> bool:
    """Return whether a name and a version, as traces say them, are those of an agent."""
    return agent.name == name and version in ({agent.prompt_version, agent.commit} - {""} or {""})


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
    if wanted:
        shown = IssueCase.objects.shown(next(iter(wanted.values())).project)
        # A case may be in several issues that were merged: it counts once.
        for pk, number, count in _of_wholes(shown, wanted, "grading__run__number").annotate(
            count=Count("case", distinct=True)
        ):
            found[pk][number] = count
    return found


def traces_in(issues: Iterable[Issue]) -> Counter[UUID]:
    """Return how many traces each issue is in, with those merged into it."""
    counts = _of_wholes(IssueTrace.objects.all(), [issue.pk for issue in issues])
    return Counter(dict(counts.annotate(count=Count("trace", distinct=True))))


def _of_wholes(rows: Any, wanted: Collection[UUID], *fields: str) -> Any:
    """Return the rows of some issues and of those merged into them, to be counted by these issues and some fields."""
    merged = Issue.objects.filter(merged_into__in=wanted).values_list("pk", flat=True)
    mine = rows.filter(issue__in=[*wanted, *merged]).order_by()
    return mine.annotate(whole=Coalesce("issue__merged_into", "issue")).values_list("whole", *fields)


@dataclass(frozen=True, slots=True)
class Touched:
    """The number of traces, users and sessions that an issue is in, each counted once."""

    traces: int
    users: int
    sessions: int


def touched_by(issue: Issue) -> Touched:
    """Return whom an issue touched in production. A trace that names no user, or no session, counts for none."""
    said = {name: Count(f"trace__{name}", distinct=True, filter=~Q(**{f"trace__{name}": ""})) for name in _WHO}
    counts = IssueTrace.objects.of_issue(issue).aggregate(traces=Count("trace", distinct=True), **said)
    return Touched(counts["traces"], *(counts[name] for name in _WHO))


def versions_of(issue: Issue) -> dict[Version, Share]:
    """Return an issue's share of the traces of each version of the agents in which it was seen, in the order they came.

    Versions of an agent by another name are not among them.
    """
    rows = IssueTrace.objects.of_issue(issue).order_by().values_list("trace__agent", "trace__agent_version")
    seen = {(agent, version): count for agent, version, count in rows.annotate(Count("trace", distinct=True))}
    agents = {agent for agent, _ in seen}
    counts = version_counts(issue.project) if seen else {}
    return {each: Share(seen.get(each, 0), count) for each, count in counts.items() if each[0] in agents}


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
