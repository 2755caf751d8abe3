"""List issues, and tell one: its figures, its cases and its history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Q
from django.http import Http404

from labeling.conversation.turns import snippet
from reports.filters.case_filters import address_query, text
from reports.issues.figures import agent_runs, earlier_runs, seen_in
from reports.issues.models import Issue, IssueCase, IssueState
from toolevals.grading.failures import LAYERS, category_of
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping
from toolevals.runs.models import Agent
from toolevals.workspace.models import Membership, Project, User
from toolevals.workspace.requests import page_number, whole_number

PAGE_SIZE: Final = 25
CASES_A_PAGE: Final = 25
# So many agents have a bar, the newest.
BARS: Final = 9
SORTS: Final[Mapping[str, str]] = {"state": "state", "name": "name", "last": "last seen", "cases": "cases"}
# What an issue is in a run, beside the earlier graded runs of its dataset -> what that means.
CHANGES: Final[Mapping[str, str]] = {
    "new": "in this run and in none before",
    "back": "in this run, not in the one before, and in an earlier one",
    "gone": "in the run before and not in this one",
    "seen": "in this run",
}
_RANK: Final = {state: place for place, state in enumerate(IssueState.values)}


@dataclass(frozen=True, slots=True)
class IssueFilter:
    """The filter of the list; "" is no condition. `agent` is an agent's name, pages count from 1."""

    state: str = ""
    layer: str = ""
    tool: str = ""
    agent: str = ""
    text: str = ""
    # The number of a run, and what is wanted of it: one of CHANGES.
    run: int = 0
    change: str = ""
    sort: str = "state"
    page: int = 1

    @classmethod
    def of_address(cls, query: Mapping[str, str]) -> IssueFilter:
        """Read an address; what it cannot mean is left out."""
        state, layer, sort, change = (text(query, name) for name in ("state", "layer", "sort", "change"))
        run = whole_number(query.get("run", "")) or 0
        return cls(
            state if state in IssueState.values else "",
            layer if layer in LAYERS else "",
            text(query, "tool"),
            text(query, "agent"),
            text(query, "q").strip(),
            run,
            change if run and change in CHANGES else "",
            sort if sort in SORTS else "state",
            page_number(query.get("page", "1")),
        )

    def query(self, **changes: str) -> str:
        """Return the address of this list with these values, on its first page unless one is given."""
        asked = {"state": self.state, "layer": self.layer, "tool": self.tool, "agent": self.agent, "q": self.text}
        asked |= {"run": str(self.run) if self.run else "", "change": self.change}
        return address_query(asked | {"sort": "" if self.sort == "state" else self.sort} | changes)


@dataclass(frozen=True, slots=True)
class IssueRow:
    """One issue of a list: how many cases it has in all, and in those of the newest agents, oldest first."""

    issue: Issue
    cases: int
    runs: int
    bars: tuple[int, ...]

    @property
    def category(self) -> str:
        return category_of(self.issue.kind)

    @property
    def owner(self) -> str:
        return self.issue.owner.name if self.issue.owner else ""

    @property
    def fixed_in(self) -> str:
        return self.issue.fixed_in.name if self.issue.fixed_in else ""

    @property
    def newest(self) -> int:
        """The cases of the newest agent."""
        return self.bars[-1] if self.bars else 0

    @property
    def drawn(self) -> list[tuple[int, int, float, float]]:
        """Each bar as (count, x, y, height) in a drawing that is 24 high."""
        most = max((*self.bars, 1))
        heights = [max(20 * count / most, 1.5) for count in self.bars]
        drawn = enumerate(zip(self.bars, heights, strict=True))
        return [(count, 11 * place + 1, 22 - height, height) for place, (count, height) in drawn]


@dataclass(frozen=True, slots=True)
class IssuePage:
    """Rows of a list, its length, and how many issues of each state there are whatever the list's state."""

    rows: Sequence[IssueRow]
    count: int
    pages: int
    states: Mapping[str, int]
    # The newest agents, oldest first, as their names and the number of their first runs.
    agents: Sequence[str]


def issue_rows(project: Project, asked: IssueFilter) -> list[IssueRow]:
    """Return all rows of a list, in its order."""
    issues = list(_wanted(project, asked).select_related("project"))
    seen = seen_in(issues)
    agents = agent_runs(project)
    newest = list(agents.values())[-BARS:]
    changed = issue_changes(project, asked.run, seen)[asked.change or "seen"] if asked.run else None
    named = {number for (_, name), numbers in agents.items() if name == asked.agent for number in numbers}
    rows = [
        _row(issue, counts, newest)
        for issue in issues
        if (counts := seen.get(issue.pk, Counter())) is not None
        and (not asked.agent or named & counts.keys())
        and (changed is None or issue.pk in changed)
    ]
    rows.sort(key=lambda row: (row.issue.last_seen, row.issue.pk), reverse=True)
    rows.sort(key=_ORDERS[asked.sort])
    return rows


def issue_changes(project: Project, run: int, seen: Mapping[UUID, Counter[int]]) -> dict[str, set[UUID]]:
    """Return which issues are new, back, gone and seen in a run, by the numbers of the runs that they were seen in."""
    earlier = earlier_runs(project, run)
    before = earlier[-1] if earlier else 0
    found: dict[str, set[UUID]] = {change: set() for change in CHANGES}
    for issue, counts in seen.items():
        here, past = run in counts, [number for number in earlier if number in counts]
        if here:
            found["seen"].add(issue)
        if here and not past:
            found["new"].add(issue)
        if here and past and before not in counts:
            found["back"].add(issue)
        if before in counts and not here:
            found["gone"].add(issue)
    return found


def changes_of(project: Project, run: int) -> dict[str, int]:
    """Return how many issues are new, back, gone and seen in a run."""
    issues = list(Issue.objects.in_project(project))
    return {change: len(found) for change, found in issue_changes(project, run, seen_in(issues)).items()}


def _row(issue: Issue, counts: Counter[int], newest: Sequence[Sequence[int]]) -> IssueRow:
    bars = tuple(sum(counts[number] for number in numbers) for numbers in newest)
    return IssueRow(issue, sum(counts.values()), len(counts), bars)


def row_of(issue: Issue) -> IssueRow:
    """Return the row of one issue."""
    newest = list(agent_runs(issue.project).values())[-BARS:]
    return _row(issue, seen_in([issue]).get(issue.pk, Counter()), newest)


_ORDERS: Final[JsonMapping] = {
    "state": lambda row: (_RANK[row.issue.state], -row.newest, -row.cases),
    "name": lambda row: row.issue.name.replace("`", "").casefold(),
    "last": lambda row: -row.issue.last_seen.timestamp(),
    "cases": lambda row: -row.cases,
}


def _wanted(project: Project, asked: IssueFilter) -> Any:
    issues = Issue.objects.in_project(project)
    given = {"state": asked.state, "layer": asked.layer, "tool": asked.tool}
    issues = issues.filter(**{name: value for name, value in given.items() if value})
    if asked.text:
        issues = issues.filter(Q(name__icontains=asked.text) | Q(error_text__icontains=asked.text))
    return issues


def issue_page(project: Project, asked: IssueFilter) -> IssuePage:
    """Return the page that is wanted, the last one where there are fewer."""
    rows = issue_rows(project, asked)
    pages = max(-(-len(rows) // PAGE_SIZE), 1)
    start = (min(asked.page, pages) - 1) * PAGE_SIZE
    states = Counter(Issue.objects.in_project(project).order_by().values_list("state", flat=True))
    agents = [f"{name} (run {numbers[0]})" for (_, name), numbers in agent_runs(project).items()]
    counted = {state: states[state] for state in IssueState.values}
    return IssuePage(rows[start : start + PAGE_SIZE], len(rows), pages, counted, agents[-BARS:])


def issue_or_404(project: Project, issue: UUID) -> Issue:
    """Return the project's issue, or raise Http404."""
    found = Issue.objects.filter(project=project, pk=issue).select_related(
        "project", "owner", "fixed_in", "merged_into"
    )
    if (row := found.first()) is None:
        raise Http404
    return row


def agents_graded(project: Project) -> Any:
    """Return the agents of people's graded runs."""
    runs = Q(runs__grading__isnull=False, runs__baseline_agent="", runs__deleted_at=None)
    return Agent.objects.filter(runs, project=project).distinct().order_by()


def members_of(project: Project) -> list[User]:
    """Return the project's members by name."""
    members = Membership.objects.filter(project=project).select_related("user").order_by("user__name")
    return [each.user for each in members]


def agent_asked(project: Project, pk: UUID | None) -> Agent:
    """Return the agent with graded runs of that id. Raises InvalidDocument."""
    agent: Agent | None = agents_graded(project).filter(pk=pk).first() if pk else None
    if agent is None:
        raise InvalidDocument.at("/agent", "is none of this project with a graded run")
    return agent


def member_asked(project: Project, pk: UUID | None) -> User:
    """Return the member of that id. Raises InvalidDocument."""
    member = next((each for each in members_of(project) if each.pk == pk), None)
    if member is None:
        raise InvalidDocument.at("/owner", "is no member of this project")
    return member


def issue_asked(project: Project, pk: UUID | None) -> Issue:
    """Return the issue of that id, merged or not. Raises InvalidDocument."""
    found = Issue.objects.filter(project=project, pk=pk).first() if pk else None
    if found is None:
        raise InvalidDocument.at("/issue", "is none of this project")
    return found


@dataclass(frozen=True, slots=True)
class IssueCaseRow:
    """One case of an issue."""

    case: UUID
    run: int
    agent: str
    example: str
    says: str
    at: datetime


def issue_cases(issue: Issue) -> Any:
    """Return the shown cases of an issue, the newest first, each once."""
    rows = IssueCase.objects.of_issue(issue).select_related("grading__run__agent")
    rows = rows.select_related("case__transcript__entry__revision__example", "grading__run__agent")
    rows = rows.defer("case__detail", "case__measured", "case__transcript__document")
    return rows.filter(pk__in=_one_each(issue)).order_by("-grading__run__number", "case_id")


def _one_each(issue: Issue) -> Any:
    """Return an id for each case: a case may be in several issues that were merged."""
    own = IssueCase.objects.filter(issue=issue).values("case")
    return IssueCase.objects.of_issue(issue).filter(Q(issue=issue) | ~Q(case__in=own)).values("pk")


def case_row(row: IssueCase) -> IssueCaseRow:
    """Return what is told of a case."""
    revision = row.case.transcript.entry.revision
    run = row.grading.run
    return IssueCaseRow(
        row.case_id, run.number, run.agent.name, revision.example.external_id, snippet(revision.input), row.at
    )
