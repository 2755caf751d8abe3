"""Show a project's issues and one of them, and let people change it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.db.models import Case, Value, When
from django.http import Http404, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from reports.filters.case_filters import text
from reports.gates.models import NamedGate
from reports.issues import acts, services
from reports.issues.asked import agent_asked, agents_graded, due_asked, issue_asked, member_asked, members_of
from reports.issues.changes import run_issues
from reports.issues.figures import by_agent, seen_in, touched_by, versions_of
from reports.issues.models import Issue, IssueGathering, IssueState
from reports.issues.page import chart_of, check_of, points_of_production, points_of_runs, sentence
from reports.issues.queries import (
    BARS,
    CASES_A_PAGE,
    SORTS,
    TRACES_A_PAGE,
    IssueFilter,
    case_row,
    changes_of,
    issue_cases,
    issue_or_404,
    issue_page,
    issue_rows,
    issue_traces,
)
from reports.issues.table import CASE, ISSUE, TRACE
from reports.run.header import run_of
from toolevals.grading.failures import CATEGORIES, LAYERS, category_of, fixes_of
from toolevals.grading.values.problems import InvalidDocument
from toolevals.traces.production.version_counts import Version
from toolevals.traces.promotion.forms import PromotionForm
from toolevals.traces.promotion.services import MOST
from toolevals.workspace.models import Role
from toolevals.workspace.paging import page_of
from toolevals.workspace.requests import ProjectRequest, page_number, read_id, whole_number
from toolevals.workspace.tables import table_file


@require_safe
def issues(request: ProjectRequest) -> HttpResponse:
    """Show a page of the project's issues."""
    asked = IssueFilter.of_address(request.GET.dict(), request.user)
    page = issue_page(request.project, asked)
    here = min(asked.page, page.pages)
    own = Issue.objects.in_project(request.project).order_by()
    changes = changes_of(request.project, asked.run, asked.baseline).items() if asked.run else ()
    context = {
        "asked": asked,
        "page": page,
        "here": here,
        "query": asked.query(),
        "before": asked.query(page=str(here - 1)) if here > 1 else "",
        "more": asked.query(page=str(here + 1)) if here < page.pages else "",
        "states": [(state, page.states[state], asked.query(state=state)) for state in IssueState.values],
        "all": asked.query(state=""),
        "total": sum(page.states.values()),
        "changes": [(change, counted, asked.query(change=change)) for change, counted in changes],
        "no_run": asked.query(run="", change="", baseline=""),
        "layers": LAYERS,
        "sorts": SORTS,
        "tools": sorted(own.exclude(tool="").values_list("tool", flat=True).distinct()),
        "agents": sorted(set(agents_graded(request.project).values_list("name", flat=True))),
        "waiting": IssueGathering.objects.waiting().filter(run__project=request.project).count(),
        "may_change": request.role >= Role.REVIEWER,
    }
    return render(request, "reports/issues.html", context)


@require_safe
def run_changes(request: ProjectRequest, number: int) -> HttpResponse:
    """Send the part of a run's page that tells which issues changed since the run before it or `?baseline=`."""
    baseline = whole_number(request.GET.get("baseline", "")) or 0
    context = {"issues": run_issues(run_of(request, number), baseline)}
    return render(request, "reports/parts/issue_changes_shown.html", context)


@require_safe
def issues_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the issues that the address chooses."""
    rows = issue_rows(request.project, IssueFilter.of_address(request.GET.dict(), request.user))
    return table_file(f"{request.project.slug}-issues", ISSUE, rows)


@require_safe
def issue(request: ProjectRequest, issue: UUID) -> HttpResponse:
    """Show one issue."""
    row = issue_or_404(request.project, issue)
    check = check_of(row)
    counts, versions, touched = by_agent(row), versions_of(row), touched_by(row)
    cases = issue_cases(row)
    traces = issue_traces(row, request.role, asked := _version(request))
    count = sum(seen_in([row]).get(row.pk, {}).values())
    pages = max(-(-count // CASES_A_PAGE), 1)
    here = min(page_number(request.GET.get("page", "1")), pages)
    context = {
        "issue": row,
        "say": sentence(row, check, counts, touched),
        "check": check,
        "chart": chart_of(points_of_runs(row, counts)[-BARS:]),
        "production": chart_of(points_of_production(row, versions)[-BARS:]),
        "touched": touched,
        "asked": asked,
        "of_version": urlencode(dict(zip(("agent", "version"), asked or (), strict=False))),
        "traces": page_of(traces, request.GET.get("before", ""), TRACES_A_PAGE),
        "shown": traces.count() if touched.traces else 0,
        "cases": [case_row(each) for each in cases[(here - 1) * CASES_A_PAGE : here * CASES_A_PAGE]],
        "count": count,
        "here": here,
        "pages": pages,
        "category": category_of(row.kind),
        "fixes": fixes_of(row.failure),
        "events": row.events.select_related("actor").order_by("at", "pk"),
        "merged": row.merged.order_by("created_at"),
        "may_change": request.role >= Role.REVIEWER and row.merged_into is None,
        "may_gate": request.role >= Role.ADJUDICATOR and row.merged_into is None and count,
        "gates": acts.gates_with(row),
        "kept_gates": NamedGate.objects.in_project(request.project),
        "may_promote": request.role >= Role.ADJUDICATOR,
        "source": acts.rerun_source(row) if request.role >= Role.ADJUDICATOR and count else None,
        "newest": newest.grading.run if (newest := cases.first()) else None,
        "agents": agents_graded(request.project).order_by("-pk"),
        "others": _others(row),
        "people": members_of(request.project),
        "kinds": CATEGORIES,
    }
    return render(request, "reports/issue.html", context)


def _version(request: ProjectRequest) -> Version | None:
    """Return the version of an agent whose traces are wanted; None for all."""
    query = request.GET.dict()
    return (text(query, "agent"), text(query, "version")) if "version" in query else None


def _others(row: Issue) -> Any:
    """Return what an issue may be merged with, the likest first."""
    same = Case(
        When(layer=row.layer, tool=row.tool, then=Value(0)), When(tool=row.tool, then=Value(1)), default=Value(2)
    )
    return Issue.objects.in_project(row.project).exclude(pk=row.pk).order_by(same, "name")[:500]


@require_safe
def issue_traces_csv(request: ProjectRequest, issue: UUID) -> StreamingHttpResponse:
    """Send the traces of an issue."""
    row = issue_or_404(request.project, issue)
    rows = issue_traces(row, request.role, _version(request)).iterator(chunk_size=500)
    return table_file(f"{request.project.slug}-issue-{str(row.pk)[:8]}-traces", TRACE, rows)


@require_safe
def issue_cases_csv(request: ProjectRequest, issue: UUID) -> StreamingHttpResponse:
    """Send the cases of an issue."""
    row = issue_or_404(request.project, issue)
    rows = (case_row(each) for each in issue_cases(row).iterator(chunk_size=500))
    return table_file(f"{request.project.slug}-issue-{str(row.pk)[:8]}-cases", CASE, rows)


@require_POST
def issue_act(request: ProjectRequest, issue: UUID, act: str) -> HttpResponse:
    """Change an issue and come back to it."""
    row = issue_or_404(request.project, issue)
    if act not in _ACTS:
        raise Http404
    try:
        shown = _ACTS[act](request, row)
    except InvalidDocument as error:
        _refuse(request, error)
        shown = row
    return _back(request, shown or row)


@require_POST
def issue_gate(request: ProjectRequest, issue: UUID) -> HttpResponse:
    """Add to a kept gate the rule that no case has the issue, and show the gate."""
    row = issue_or_404(request.project, issue)
    name = request.POST.get("new", "").strip() or request.POST.get("gate", "")
    try:
        gate = acts.issue_gate(issue=row, actor=request.user, name=name)
    except InvalidDocument as error:
        _refuse(request, error)
        return _back(request, row)
    return HttpResponseRedirect(reverse("reports:named-gate", args=[request.project.slug, gate.name]))


@require_http_methods(["GET", "HEAD", "POST"])
def issue_rerun(request: ProjectRequest, issue: UUID) -> HttpResponse:
    """Show what a run of the newest agent on the issue's examples takes; by POST, start it."""
    row = issue_or_404(request.project, issue)
    if request.method == "POST":
        try:
            run = acts.issue_rerun(issue=row, actor=request.user)
        except InvalidDocument as error:
            _refuse(request, error)
            return _back(request, row)
        return HttpResponseRedirect(reverse("reports:run", args=[request.project.slug, run.number]))
    rerun = acts.rerun_of(row)
    if rerun is None:
        raise Http404
    return render(request, "reports/issue_rerun.html", {"issue": row, "rerun": rerun, "estimate": rerun.estimate})


@require_http_methods(["GET", "HEAD", "POST"])
def issue_promote(request: ProjectRequest, issue: UUID) -> HttpResponse:
    """Ask for the dataset of examples that are made of the issue's traces; by POST, begin the job."""
    row = issue_or_404(request.project, issue)
    form = PromotionForm(request.POST or None, project=request.project, alone=True)
    if request.method == "POST" and form.is_valid():
        said = form.cleaned_data
        try:
            promotion = acts.issue_promote(
                issue=row,
                actor=request.user,
                role=request.role,
                dataset=said["dataset"],
                turns=said["turns"],
                shows_first="look" in request.POST,
            )
        except InvalidDocument as error:
            _refuse(request, error)
            return _back(request, row)
        return HttpResponseRedirect(reverse("traces:promotion", args=[request.project.slug, promotion.pk]))
    count = min(issue_traces(row, request.role).count(), MOST)
    context = {"form": form, "of": f"Of {count:,} trace{'' if count == 1 else 's'} of an issue"}
    return render(request, "traces/promote.html", context, status=422 if form.errors else 200)


def _refuse(request: ProjectRequest, error: InvalidDocument) -> None:
    problem = error.problems[0]
    what = problem.pointer.strip("/").replace("_", " ")
    messages.error(request, f"Not saved: {f'the {what} ' if what else ''}{problem.message.removesuffix('.')}.")


def _back(request: ProjectRequest, row: Issue) -> HttpResponseRedirect:
    return HttpResponseRedirect(reverse("reports:issue", args=[request.project.slug, row.pk]))


def _fix(request: ProjectRequest, row: Issue) -> None:
    agent = agent_asked(request.project, read_id(request.POST.get("agent", "")))
    services.issue_fix(issue=row, agent=agent, actor=request.user)


def _accept(request: ProjectRequest, row: Issue) -> None:
    services.issue_accept(issue=row, actor=request.user, reason=request.POST.get("reason", ""))


def _reopen(request: ProjectRequest, row: Issue) -> None:
    services.issue_reopen(issue=row, actor=request.user)


def _own(request: ProjectRequest, row: Issue) -> None:
    asked = request.POST.get("owner", "")
    owner = member_asked(request.project, read_id(asked)) if asked else None
    services.issue_own(issue=row, actor=request.user, owner=owner, due_on=due_asked(request.POST.get("due_on", "")))


def _name(request: ProjectRequest, row: Issue) -> None:
    services.issue_name(
        issue=row, actor=request.user, name=request.POST.get("name", ""), kind=request.POST.get("kind", "")
    )


def _note(request: ProjectRequest, row: Issue) -> None:
    services.issue_note(issue=row, actor=request.user, text=request.POST.get("text", ""))


def _merge(request: ProjectRequest, row: Issue) -> Issue:
    other = issue_asked(request.project, read_id(request.POST.get("issue", "")))
    return services.issues_merge(issue=row, other=other, actor=request.user)


def _split(request: ProjectRequest, row: Issue) -> None:
    services.issue_split(issue=row, actor=request.user)


_ACTS: Final[dict[str, Callable[[ProjectRequest, Issue], Any]]] = {
    "fix": _fix,
    "accept": _accept,
    "reopen": _reopen,
    "own": _own,
    "name": _name,
    "note": _note,
    "merge": _merge,
    "split": _split,
}
