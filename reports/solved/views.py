"""Show which agents solve which examples, over any number of runs; and the case behind a cell."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from django.http import Http404, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from reports.filters.case_filters import address_query
from reports.run.header import graded, run_head, run_url
from reports.solved.analysis import SORTS, Show
from reports.solved.queries import case_of_example, example_snippets
from reports.solved.table import (
    AGENTS,
    EXAMPLES_A_PAGE,
    SOLVED,
    SolvedFilters,
    matrix_of,
    solved_rows,
)
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.tables import table_file

MOST_NAMED: Final = 20
# What stands for an example in an address until one is known.
NO_EXAMPLE: Final = UUID(int=0)


@require_safe
def solved(request: ProjectRequest) -> HttpResponse:
    """Show the matrix, a page of examples at a time; each cell opens its case."""
    filters = SolvedFilters.of(request.GET)
    runs, matrix = matrix_of(request.project, filters)
    places = matrix.ordered(filters.show, filters.sort)
    pages = max(1, -(-len(places) // EXAMPLES_A_PAGE))
    page = min(filters.page, pages)
    shown = places[(page - 1) * EXAMPLES_A_PAGE : page * EXAMPLES_A_PAGE]
    own = filters.parameters()
    snippets = example_snippets(runs.dataset, [matrix.examples[place][0] for place in shown]) if runs.dataset else {}
    context: dict[str, Any] = {
        "filters": filters,
        "runs": runs,
        "matrix": matrix,
        "left_out": runs.left_out[:MOST_NAMED],
        "more_left_out": max(0, len(runs.left_out) - MOST_NAMED),
        "kept": [(name, own[name]) for name in ("dataset", "experiment", "by", "show")],
        "columns": [(label, agent, address_query(own | {"sort": agent.key})) for label, agent in matrix.columns],
        "rows": [
            (matrix.examples[place], snippets.get(matrix.examples[place][0], ""), matrix.line(place)) for place in shown
        ],
        "sorts": SORTS.items(),
        "shows": [(show, matrix.counts[show], address_query(own | {"show": show.value})) for show in Show],
        "layers": VERDICT_NAMES,
        "query_by": address_query(own | {"by": "" if filters.by_run else "run", "sort": ""}),
        "query": address_query(own),
        "opening": {
            number: reverse("reports:example-case", args=[request.project.slug, number, NO_EXAMPLE]).removesuffix(
                f"{NO_EXAMPLE}/"
            )
            for agent in matrix.agents
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
    filters = SolvedFilters.of(request.GET)
    _, matrix = matrix_of(request.project, filters)
    if request.GET.get("of") == "agents":
        return table_file("solved-agents", AGENTS, matrix.agents)
    return table_file("solved", SOLVED, solved_rows(matrix, filters))


@require_safe
def example_case(request: ProjectRequest, number: int, example: UUID) -> HttpResponseRedirect:
    """Open the case that stands for an example in a run: the first trial that failed, else the first."""
    grading = graded(run_head(request, number, "cases"))
    layer = SolvedFilters.of(request.GET).layer
    case = case_of_example(grading, example, layer)
    if case is None:
        raise Http404
    return HttpResponseRedirect(run_url("case", grading.run, case))
