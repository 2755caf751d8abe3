"""Tell which issues are new, back or gone in a run, compared with the run before it or another one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Case, Value, When

from reports.issues.figures import earlier_runs
from reports.issues.models import Issue, IssueGathering
from reports.issues.queries import IssueFilter, changed_in
from toolevals.runs.models import Run

# So many issues of each change are named; the rest is one click away.
MOST_NAMED: Final = 5
_TOLD: Final = ("new", "back", "gone")


@dataclass(frozen=True, slots=True)
class IssueChange:
    """The issues that changed in one way, those seen last first; `query` is the address of their list."""

    name: str
    count: int
    issues: Sequence[Issue]
    query: str


@dataclass(frozen=True, slots=True)
class RunIssues:
    """The changes of issues in a run, compared with the run of number `before`, 0 where there is none.

    `is_waiting` says that its failures are still being gathered.
    """

    before: int
    changes: Sequence[IssueChange]
    is_waiting: bool


def run_issues(run: Run, before: int = 0) -> RunIssues | None:
    """Return the issues that changed in a graded run, compared with `before` or the run before; None where none did."""
    baseline = before or next(reversed(earlier_runs(run.project, run.number)), 0)
    waiting = IssueGathering.objects.waiting().filter(
        run__number__in=[run.number, baseline], run__project=run.project_id
    )
    which = changed_in(run.project, run.number, before)
    told = Case(*(When(which[name], then=Value(name)) for name in _TOLD), default=Value(""))
    found: dict[str, list[Issue]] = defaultdict(list)
    rows: Any = Issue.objects.in_project(run.project).annotate(change=told).exclude(change="")
    for issue in rows.order_by("-last_seen", "-pk"):
        found[issue.change].append(issue)
    asked = IssueFilter(run=run.number, baseline=before)
    changes = [
        IssueChange(name, len(found[name]), found[name][:MOST_NAMED], asked.query(change=name))
        for name in _TOLD
        if found[name]
    ]
    is_waiting = waiting.exists()
    return RunIssues(baseline, changes, is_waiting) if changes or is_waiting else None
