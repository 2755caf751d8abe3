"""Show which agents solve which examples, over any number of runs; and the case behind a cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.http import Http404, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from reports.analyses.solved import SORTS, Show, Solved
from reports.filters.case_filters import address_query, choice, text
from reports.filters.case_filters import number as read_number
from reports.pages.run_header import graded, run_head, run_url
from reports.queries.solved import SolvedRuns, case_of_example, example_snippets, solved_matrix, solved_runs
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.presentation.csv import Cell as CsvCell
from toolevals.workspace.address_numbers import whole_number
from toolevals.workspace.models import Project
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.views.files import csv_file

EXAMPLES_A_PAGE: Final = 50
MOST_NAMED: Final = 20
# What stands for an example in an address until one is known.
NO_EXAMPLE: Final = UUID(int=0)
# Numbers of runs, separated by commas.
LONGEST_RUNS: Final = 4000
COLUMNS_CSV: Final = (
    "example_id",
    "external_id",
    "agent_id",
    "agent",
    "detail",
    "runs",
    "passed",
    "failed",
    "status",
    "run",
)
AGENTS_CSV: Final = ("agent_id", "agent", "detail", "runs", "solved", "scored", "share", "share_low", "share_high")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks for: runs of a dataset or an experiment, a verdict, columns, order, page from 1."""

    dataset: str
    experiment: str
    runs: tuple[int, ...]
    layer: str
    by_run: bool
    sort: str
    show: Show
    page: int

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> Asked:
        """Return what is asked for; what cannot be meant counts as not given."""
        numbers = (whole_number(each.strip()) for each in text(parameters, "runs", LONGEST_RUNS).split(","))
        layer = text(parameters, "layer")
        return cls(
            dataset=text(parameters, "dataset"),
            experiment=text(parameters, "experiment"),
            runs=tuple(number for number in numbers if number is not None),
            layer=layer if layer in VERDICT_NAMES else "outcome",
            by_run=parameters.get("by") == "run",
            sort=text(parameters, "sort") or "hardest",
            show=choice(Show, parameters, "show", Show.ALL),
            page=read_number(parameters, "page") or 1,
        )

    def parameters(self) -> dict[str, str]:
        """Return what the address says of it, the page aside."""
        return {
            "dataset": self.dataset,
            "experiment": self.experiment,
            "runs": ",".join(map(str, self.runs)),
            "layer": "" if self.layer == "outcome" else self.layer,
            "by": "run" if self.by_run else "",
            "sort": "" if self.sort == "hardest" else self.sort,
            "show": "" if self.show is Show.ALL else self.show,
        }


def found_for(project: Project, asked: Asked) -> tuple[SolvedRuns, Solved]:
    """Return the runs that are looked at, and their matrix."""
    runs = solved_runs(project, asked.dataset, asked.runs, asked.experiment)
    return runs, solved_matrix(runs.runs, asked.layer, by_run=asked.by_run)


@require_safe
def solved(request: ProjectRequest) -> HttpResponse:
    """Show the matrix, a page of examples at a time; each cell opens its case."""
    asked = Asked.of(request.GET)
    runs, found = found_for(request.project, asked)
    places = found.ordered(asked.show, asked.sort)
    pages = max(1, -(-len(places) // EXAMPLES_A_PAGE))
    page = min(asked.page, pages)
    shown = places[(page - 1) * EXAMPLES_A_PAGE : page * EXAMPLES_A_PAGE]
    own = asked.parameters()
    snippets = example_snippets(runs.dataset, [found.examples[place][0] for place in shown]) if runs.dataset else {}
    context: dict[str, Any] = {
        "asked": asked,
        "runs": runs,
        "found": found,
        "left_out": runs.left_out[:MOST_NAMED],
        "more_left_out": max(0, len(runs.left_out) - MOST_NAMED),
        "kept": [(name, own[name]) for name in ("dataset", "experiment", "by", "show")],
        "columns": [(label, agent, address_query(own | {"sort": agent.key})) for label, agent in found.columns],
        "rows": [
            (found.examples[place], snippets.get(found.examples[place][0], ""), found.line(place)) for place in shown
        ],
        "sorts": SORTS.items(),
        "shows": [(show, found.counts[show], address_query(own | {"show": show.value})) for show in Show],
        "layers": VERDICT_NAMES,
        "query_by": address_query(own | {"by": "" if asked.by_run else "run", "sort": ""}),
        "query": address_query(own),
        "opening": {
            number: reverse("reports:example-case", args=[request.project.slug, number, NO_EXAMPLE]).removesuffix(
                f"{NO_EXAMPLE}/"
            )
            for agent in found.agents
            for number in agent.numbers
        },
        "layer_query": address_query({"layer": own["layer"]}),
        "page": page,
        "pages": pages,
        "query_before": address_query(own | {"page": page - 1}) if page > 1 else "",
        "query_after": address_query(own | {"page": page + 1}) if page < pages else "",
    }
    return render(request, "reports/solved.html", context)


@require_safe
def solved_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send every cell, one row for each example and agent; or the agents, with `of=agents`."""
    asked = Asked.of(request.GET)
    _, found = found_for(request.project, asked)
    if request.GET.get("of") == "agents":
        return csv_file("solved-agents", AGENTS_CSV, (tuple(row.values()) for row in agent_rows(found)))
    return csv_file("solved", COLUMNS_CSV, (tuple(row.values()) for row in solved_rows(found, asked)))


def solved_rows(found: Solved, asked: Asked, page: int | None = None) -> Iterator[dict[str, CsvCell]]:
    """Yield a row for each example and agent in the order that is asked for, of one page where one is."""
    places = found.ordered(asked.show, asked.sort)
    if page is not None:
        places = places[(page - 1) * EXAMPLES_A_PAGE : page * EXAMPLES_A_PAGE]
    for place in places:
        example, name = found.examples[place]
        for agent in found.agents:
            cell = agent.cell(place)
            numbers = " ".join(map(str, agent.numbers))
            said = (str(example), name, str(agent.agent_id), agent.name, agent.detail, numbers)
            counts = (cell.passed, cell.failed, cell.status, cell.run)
            yield dict(zip(COLUMNS_CSV, (*said, *counts), strict=True))


def agent_rows(found: Solved) -> Iterator[dict[str, CsvCell]]:
    """Yield a row for each agent: how many examples it solves of those scored for it."""
    for agent in found.agents:
        rate, numbers = agent.rate, " ".join(map(str, agent.numbers))
        said = (str(agent.agent_id), agent.name, agent.detail, numbers, rate.passed, rate.total)
        yield dict(zip(AGENTS_CSV, (*said, rate.value, rate.low, rate.high), strict=True))


@require_safe
def example_case(request: ProjectRequest, number: int, example: UUID) -> HttpResponseRedirect:
    """Open the case that stands for an example in a run: the first trial that failed, else the first."""
    grading = graded(run_head(request, number, "cases"))
    layer = Asked.of(request.GET).layer
    case = case_of_example(grading, example, layer)
    if case is None:
        raise Http404
    return HttpResponseRedirect(run_url("case", grading.run, case))
