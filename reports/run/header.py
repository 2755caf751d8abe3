"""Tell what every page of a run needs: the run, the grading that is shown, and the facts in its head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import Http404
from django.urls import reverse

from labeling.models import DatasetVersion
from reports.filters.case_filters import number as read_number
from toolevals.runs.models import Connector, Grading, Run
from toolevals.runs.queries import numbered_run, shown_grading
from toolevals.workspace.requests import ProjectRequest


@dataclass(frozen=True, slots=True)
class Tab:
    """One page of a run."""

    title: str
    url: str
    current: bool


@dataclass(frozen=True, slots=True)
class RunHead:
    """A run and the grading that its pages show; `grading` is None until the first one is finished."""

    run: Run
    grading: Grading | None
    tabs: tuple[Tab, ...]
    # The grading that the address asks for, to be carried on to other pages.
    grading_number: int | None = None

    @property
    def label(self) -> str:
        """Say what the tabs belong to, for readers of the page."""
        return f"Run {self.run.number}"

    @property
    def is_newest(self) -> bool:
        return self.grading is None or self.grading.pk == self.run.grading_id

    @property
    def version(self) -> DatasetVersion:
        """The dataset version that is graded against, which may be newer than the run's."""
        return self.grading.dataset_version if self.grading else self.run.dataset_version

    @property
    def query(self) -> str:
        """The grading as a whole query, or nothing."""
        return f"?grading={self.grading_number}" if self.grading_number else ""

    @property
    def and_query(self) -> str:
        """The grading as a further parameter, or nothing."""
        return f"&grading={self.grading_number}" if self.grading_number else ""


def run_head(request: ProjectRequest, number: int, current: str) -> RunHead:
    """Return the head of a run's page, or raise Http404. The address may ask for an older grading."""
    run = run_of(request, number)
    choice = read_number(request.GET, "grading")
    grading = shown_grading(run, choice)
    if choice and grading is None:
        raise Http404
    return RunHead(run, grading, _tabs(run, current, choice), choice)


def run_of(request: ProjectRequest, number: int) -> Any:
    """Return the project's run of that number, with what tells whether its gold has moved on, or raise Http404."""
    run: Any = numbered_run(request.project, number)
    if run is None:
        raise Http404
    # The project is here already: code that asks the run or its agent for it asks no database.
    run.project = run.agent.project = request.project
    return run


def graded(head: RunHead) -> Grading:
    """Return the grading that is shown, or raise Http404 where nothing is graded yet."""
    if head.grading is None:
        raise Http404
    return head.grading


def run_url(name: str, run: Run, *args: Any) -> str:
    """Return the address of a page of a run."""
    return reverse(f"reports:{name}", args=[run.project.slug, run.number, *args])


def _tabs(run: Run, current: str, grading: int | None) -> tuple[Tab, ...]:
    query = f"?grading={grading}" if grading else ""
    pages = (
        ("run", "Overview"),
        ("matrix", "Confusion matrix"),
        ("arguments", "Arguments"),
        ("recovery", "Recovery"),
        ("reliability", "Reliability"),
        ("dialects", "Other evaluators"),
        ("spending", "Costs"),
        ("cases", "Cases"),
        ("golds", "Gold"),
        ("run-gates", "Gates"),
    )
    tabs = [Tab(title, run_url(name, run) + query, name == current) for name, title in pages]
    if run.agent.connector == Connector.UPLOAD:
        tabs.append(Tab("Recorded", run_url("recorded", run) + query, current == "recorded"))
    if not run.baseline_agent:
        tabs.append(
            Tab("Issues", f"{reverse('reports:issues', args=[run.project.slug])}?run={run.number}", current=False)
        )
        tabs.append(Tab("Compare", run_url("compare-with", run), current == "compare"))
    trends = reverse("reports:trends", args=[run.project.slug, run.experiment.slug])
    return (*tabs, Tab("Trends", trends, current == "trends"))
