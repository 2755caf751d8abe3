"""List issues, and tell one: its figures, its cases and its history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.core.cache import cache
from django.db.models import Case, Count, Exists, F, Func, IntegerField, OuterRef, Q, Subquery, Value, When
from django.db.models.functions import Coalesce, Lower, Replace
from django.http import Http404

from labeling.conversation.turns import snippet
from reports.filters.case_filters import address_query, text
from reports.issues.figures import agent_runs, earlier_runs, seen_in, traces_in
from reports.issues.models import Issue, IssueCase, IssueState, IssueTrace
from toolevals.grading.failures import LAYERS, category_of
from toolevals.runs.models import Run
from toolevals.traces.blindness import closed_to
from toolevals.traces.models import Trace
from toolevals.traces.production.version_counts import Version
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project, Role, User
from toolevals.workspace.paging import ROWS_AT_ONCE
from toolevals.workspace.requests import page_number, whole_number

PAGE_SIZE: Final = 25
CASES_A_PAGE: Final = 25
TRACES_A_PAGE: Final = 8
# What is late: so many graded runs, and so many days of traces.
LATE_RUNS: Final = 5
LATE_DAYS: Final = 7
# So many seconds the order of the first page stands.
LATELY_KEPT: Final = 60
# So many agents have a bar, the newest.
BARS: Final = 9
SORTS: Final[Mapping[str, str]] = {
    "state": "state", "name": "name", "last": "last seen", "cases": "cases", "traces": "traces",
}  # fmt: skip
# What an issue is in a run, next to the earlier graded runs of its dataset -> what that means.
CHANGES: Final[Mapping[str, str]] = {
    "new": "in this run and in none before",
    "back": "in this run and in an earlier one, but not in the previous one",
    "gone": "in the run before and not in this one",
    "seen": "in this run",
}
_RANKS: Final = tuple(When(state=state, then=Value(place)) for place, state in enumerate(IssueState.values))


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
    # The number of the run that it is compared with; 0 is the one before it.
    baseline: int = 0
    sort: str = "state"
    page: int = 1
    # Whose issues alone, where those are asked for.
    owner: UUID | None = None

    @classmethod
    def of_address(cls, query: Mapping[str, str], user: User) -> IssueFilter:
        """Read an address of this reader's; what it cannot mean is left out."""
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
            (whole_number(query.get("baseline", "")) or 0) if run else 0,
            sort if sort in SORTS else "state",
            page_number(query.get("page", "1")),
            user.pk if text(query, "owner") == "me" else None,
        )

    def query(self, **changes: str) -> str:
        """Return the address of this list with these values, on its first page unless one is given."""
        asked = {"state": self.state, "layer": self.layer, "tool": self.tool, "agent": self.agent, "q": self.text}
        asked |= {"run": str(self.run) if self.run else "", "change": self.change}
        asked |= {"baseline": str(self.baseline) if self.baseline else "", "owner": "me" if self.owner else ""}
        return address_query(asked | {"sort": "" if self.sort == "state" else self.sort} | changes)


@dataclass(frozen=True, slots=True)
class IssueRow:
    """One issue of a list: how many cases and traces it has, and cases of the newest agents, oldest first."""

    issue: Issue
    cases: int
    runs: int
    traces: int
    bars: tuple[int, ...]

    @property
    def category(self) -> str:
        return category_of(self.issue.kind)

    @property
    def owner(self) -> str:
        return self.issue.owner.name if self.issue.owner else ""

    @property
    def due_on(self) -> str:
        """The day until when the owner should be done, as 2027-01-31; empty where none is set."""
        return self.issue.due_on.isoformat() if self.issue.due_on else ""

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


def issue_rows(project: Project, asked: IssueFilter) -> Iterator[IssueRow]:
    """Yield all rows of a list, in its order."""
    ids = list(_sorted(project, asked).values_list("pk", flat=True))
    newest = _newest(project)
    for at in range(0, len(ids), ROWS_AT_ONCE):
        yield from _rows(ids[at : at + ROWS_AT_ONCE], newest)


def _rows(ids: Sequence[UUID], newest: Sequence[Sequence[int]]) -> list[IssueRow]:
    issues = Issue.objects.select_related("project", "owner", "fixed_in").in_bulk(ids)
    seen, traces = seen_in(issues.values()), traces_in(issues.values())
    return [_row(issues[pk], seen.get(pk, Counter()), traces[pk], newest) for pk in ids]


def _newest(project: Project) -> list[list[int]]:
    """Return the numbers of the runs of the newest agents, oldest first."""
    return list(agent_runs(project).values())[-BARS:]


def _row(issue: Issue, counts: Counter[int], traces: int, newest: Sequence[Sequence[int]]) -> IssueRow:
    bars = tuple(sum(counts[number] for number in numbers) for numbers in newest)
    return IssueRow(issue, sum(counts.values()), len(counts), traces, bars)


def row_of(issue: Issue) -> IssueRow:
    """Return the row of one issue."""
    return _row(issue, seen_in([issue]).get(issue.pk, Counter()), traces_in([issue])[issue.pk], _newest(issue.project))


def _cases(project: Project, **of_runs: object) -> Any:
    """Return the shown cases of some runs. Their gradings are a list: the database looks at no run for each case."""
    shown = Run.objects.filter(project=project, grading__isnull=False, **of_runs).order_by()
    return IssueCase.objects.filter(grading__in=list(shown.values_list("grading", flat=True)))


def _has(rows: Any) -> Q:
    """Return the condition that an issue, or one that was merged into it, has some rows."""
    return Q(Exists(rows.filter(issue=OuterRef("pk")))) | Q(Exists(rows.filter(issue__in=_merged())))


def _merged() -> Any:
    """Return the issues that were merged into the one that a query is about."""
    return Issue.objects.filter(merged_into=OuterRef(OuterRef("pk"))).values("pk")


def _number_of(rows: Any, field: str) -> Any:
    """Return the number of an issue's rows, and of those merged into it by another value of a field.

    Two questions that an index answers each: databases read all rows where one asks for both.
    """
    own = rows.filter(issue=OuterRef("pk"))
    same = rows.model.objects.filter(issue=OuterRef(OuterRef("pk")), **{field: OuterRef(field)})
    merged = rows.filter(~Exists(same), issue__in=_merged())
    count = Func(F(field), template="COUNT(DISTINCT %(expressions)s)", output_field=IntegerField())
    parts = (Subquery(each.order_by().annotate(number=count).values("number")) for each in (own, merged))
    first, second = (Coalesce(part, 0, output_field=IntegerField()) for part in parts)
    return first + second


def _sorted(project: Project, asked: IssueFilter) -> Any:
    """Return the issues of a list, in its order."""
    issues = _wanted(project, asked)
    runs = _newest(project)
    newest, cases, in_traces = (
        _number_of(rows, field).desc()
        for rows, field in (
            (_cases(project, number__in=runs[-1] if runs else []), "case"),
            (_cases(project), "case"),
            (IssueTrace.objects.all(), "trace"),
        )
    )
    by: dict[str, tuple[Any, ...]] = {
        "state": (Case(*_RANKS), newest, cases, in_traces),
        "name": (Lower(Replace("name", Value("`"))),),
        "last": (),
        "cases": (cases, in_traces),
        "traces": (in_traces, cases),
    }
    return issues.order_by(*by[asked.sort], "-last_seen", "-pk")


def issues_first(project: Project, most: int) -> list[IssueRow]:
    """Return the open issues that matter most.

    That is by their cases in the last LATE_RUNS graded runs, with traces of the last LATE_DAYS days, twice where they
    came back.
    """
    key = f"reports:issues-lately:{project.pk}"
    lately: dict[UUID, int] = cache.get_or_set(key, lambda: _lately(project), LATELY_KEPT) or {}
    open_states = [IssueState.OPEN, IssueState.REGRESSED]
    found = Issue.objects.in_project(project).filter(state__in=open_states).order_by("-last_seen", "-pk")
    states = {pk: state for pk, state in found.values_list("pk", "state") if pk in lately}
    ids = sorted(states, key=lambda pk: -lately[pk] * (2 if states[pk] == IssueState.REGRESSED else 1))[:most]
    return _rows(ids, _newest(project)) if ids else []


def _lately(project: Project) -> dict[UUID, int]:
    """Return how many late cases and traces each issue has, with those merged into it."""
    runs = sorted(number for numbers in agent_runs(project).values() for number in numbers)[-LATE_RUNS:]
    since = database_now() - timedelta(days=LATE_DAYS)
    cases = IssueCase.objects.shown(project).filter(grading__run__number__in=runs)
    traces = IssueTrace.objects.filter(issue__project=project, trace__created_at__gte=since)
    found: Counter[UUID] = Counter()
    for rows, field in ((cases, "case"), (traces, "trace")):
        whole = rows.order_by().annotate(whole=Coalesce("issue__merged_into", "issue")).values_list("whole")
        found.update(dict(whole.annotate(Count(field, distinct=True))))
    return dict(found)


def _wanted(project: Project, asked: IssueFilter) -> Any:
    issues = Issue.objects.in_project(project)
    given = {"state": asked.state, "layer": asked.layer, "tool": asked.tool}
    issues = issues.filter(**{name: value for name, value in given.items() if value})
    if asked.text:
        issues = issues.filter(Q(name__icontains=asked.text) | Q(error_text__icontains=asked.text))
    if asked.owner:
        issues = issues.filter(owner=asked.owner)
    if asked.agent:
        issues = issues.filter(_has(_cases(project, agent__name=asked.agent)))
    return (
        issues.filter(changed_in(project, asked.run, asked.baseline)[asked.change or "seen"]) if asked.run else issues
    )


def changed_in(project: Project, run: int, before: int = 0) -> dict[str, Q]:
    """Return the condition on an issue under which it is new, back, gone or seen in a run.

    It is compared with the run of number `before`, by default the graded run of its dataset before it.
    """
    earlier = earlier_runs(project, run)
    baseline = [before] if before else earlier[-1:]
    here, past, just = (_has(_cases(project, number__in=each)) for each in ([run], [*earlier, *baseline], baseline))
    return {"new": here & ~past, "back": here & past & ~just, "gone": just & ~here, "seen": here}


def changes_of(project: Project, run: int, before: int = 0) -> dict[str, int]:
    """Return how many issues are new, back, gone and seen in a run."""
    issues = Issue.objects.in_project(project)
    return {change: issues.filter(which).count() for change, which in changed_in(project, run, before).items()}


def issue_page(project: Project, asked: IssueFilter) -> IssuePage:
    """Return the page that is wanted, the last one where there are fewer."""
    count = _wanted(project, asked).count()
    pages = max(-(-count // PAGE_SIZE), 1)
    start = (min(asked.page, pages) - 1) * PAGE_SIZE
    ids = list(_sorted(project, asked).values_list("pk", flat=True)[start : start + PAGE_SIZE])
    by_state = Issue.objects.in_project(project).order_by().values_list("state").annotate(Count("pk"))
    states = Counter(dict(by_state))
    agents = [f"{name} (run {numbers[0]})" for (_, name), numbers in agent_runs(project).items()]
    counted = {state: states[state] for state in IssueState.values}
    return IssuePage(_rows(ids, _newest(project)), count, pages, counted, agents[-BARS:])


def issue_or_404(project: Project, issue: UUID) -> Issue:
    """Return the project's issue, or raise Http404."""
    found = Issue.objects.filter(project=project, pk=issue).select_related(
        "project", "owner", "fixed_in", "merged_into"
    )
    if (row := found.first()) is None:
        raise Http404
    return row


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


def issue_traces(issue: Issue, role: Role, version: Version | None = None) -> Any:
    """Return the traces of an issue that are not closed to a member with a role, of one version where it is given."""
    found = Trace.objects.in_project(issue.project).filter(pk__in=IssueTrace.objects.of_issue(issue).values("trace"))
    if version is not None:
        found = found.filter(agent=version[0], agent_version=version[1])
    return found.exclude(closed_to(issue.project, role)).order_by("-pk")
