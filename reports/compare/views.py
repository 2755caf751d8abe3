"""Show two runs side by side: whether the change is real, what moved, and the examples that moved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse, HttpResponseBase, HttpResponseRedirect, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from labeling.agreement.cache import pairs_tallied
from reports.compare import table as tables
from reports.compare.analysis import change_details, change_sentence, tools_sentence
from reports.compare.judges import judge_deltas, shared_judges
from reports.compare.metrics import compared_metrics, shared_metrics
from reports.compare.moved import MovedFilter, moved_page, paired_case, read_moved_filter
from reports.compare.page import (
    MOST_AT_ONCE,
    asked_runs,
    choices,
    comparable_runs,
    drawn_change,
    outside,
    part_chips,
    part_context,
    strata_of,
    stratum_named,
    stratum_rows,
)
from reports.compare.parameters import compared_parameters, parameters_sentence
from reports.compare.queries import TwoRuns, default_baseline, read_part
from reports.compare.registry import registry_change
from reports.compare.spending import UNITS, both_say, compared_spending
from reports.downloads.long_tables import compared_table
from reports.downloads.views import long_csv
from reports.filters.case_filters import address_query, text
from reports.filters.case_filters import number as read_number
from reports.public_scores.queries import public_rows
from reports.run.header import run_head, run_of
from reports.run.queries import noisier
from toolevals.presentation.numbers import change_words
from toolevals.presentation.table import Table
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.tables import table_file

# What moved most; the rest is one click away.
MOST_TOOLS = 25
MOST_EXAMPLES = 8
MOST_PARAMETERS = 25
KEYMAP = (
    ("Fixed, broken examples", ("F", "B")),
    ("Example down, up", ("J", "K")),
    ("Swap the two runs", ("S",)),
    ("CSV files", ("X",)),
    ("Copy link", ("C",)),
)


@require_safe
def compare_with(request: ProjectRequest, number: int) -> HttpResponse:
    """Go to the comparison with the run that the address asks for, by default the previous comparable one."""
    head = run_head(request, number, "compare")
    if head.grading is None:
        return render(request, "reports/run_waiting.html", {"head": head, "run": head.run, "job": head.run.job})
    wanted, candidate = read_number(request.GET, "baseline"), read_number(request.GET, "candidate") or number
    runs = choices(head.run)
    baseline = wanted or getattr(default_baseline(head.run, runs), "number", None)
    if baseline is None:
        return render(request, "reports/compare_none.html", {"head": head, "run": head.run, "choices": runs})
    query = address_query({"layer": text(request.GET, "layer")} | read_part(request.GET).conditions)
    return HttpResponseRedirect(_url(request, "compare", baseline, candidate) + (f"?{query}" if query else ""))


@require_safe
def compare(request: ProjectRequest, number: int, candidate: int) -> HttpResponse:
    """Show what changed from a baseline to a candidate, or why they cannot be compared."""
    runs = asked_runs(request, number, candidate)
    if runs is None:
        sides = [run_of(request, each) for each in (number, candidate)]
        waiting = [run.number for run in sides if run.grading_id is None]
        refusal = f"Run {waiting[0]} is not graded yet." if waiting else ""
        context = {"before": sides[0], "after": sides[1], "refusal": refusal}
    else:
        context = {"before": runs.before, "after": runs.after, "refusal": runs.refusal, "runs": runs}
    context |= {
        "choices": choices(context["after"], context["before"], context["after"]),
        "address": reverse("reports:compare-with", args=[request.project.slug, candidate]),
    }
    if runs is None or runs.refusal:
        return render(request, "reports/compare_refused.html", context)
    return render(request, "reports/compare.html", context | _analyses(request, runs))


def _analyses(request: ProjectRequest, runs: TwoRuns) -> dict[str, Any]:
    comparison = runs.comparison
    reads = runs.examples <= MOST_AT_ONCE or "metrics" in request.GET
    parameters = compared_parameters(runs) if reads else ()
    layer, deciding = comparison.layer(text(request.GET, "layer")), comparison.layer("")
    rows = comparison.tools if request.GET.get("tools") == "all" else comparison.tools[:MOST_TOOLS]
    lists = [MovedFilter(layer.name, how, part=runs.part) for how in ("fixed", "broken")] if layer else []
    return part_context(runs, layer.name if layer else "", text(request.GET, "by")) | {
        "found": comparison,
        "layer": layer,
        "deciding": deciding,
        "sentence": change_sentence(deciding),
        "details": change_details(deciding),
        "noise_at": pairs_tallied(runs.after.dataset_version.dataset).counted_at,
        "noise": change_words(noisier(runs.gradings)) if deciding else "",
        "layer_sentence": "" if layer is deciding else f"{change_sentence(layer)} {change_details(layer)}",
        "tools_sentence": tools_sentence(comparison.tools),
        "differences": runs.differences,
        "cautions": runs.cautions,
        "outside": outside(runs),
        "tool_rows": rows,
        "tools_left": len(comparison.tools) - len(rows),
        "change": drawn_change(comparison.matrix),
        "registry": registry_change(runs, comparison),
        "public": tuple(dict.fromkeys(row for run in (runs.before, runs.after) for row in public_rows(run.agent))),
        "lists": [(each, moved_page(runs, each, 0, MOST_EXAMPLES)) for each in lists],
        "judges": judge_deltas(runs),
        "metrics_asked": reads,
        "metrics": compared_metrics(runs) if reads else (),
        "spending": compared_spending(runs) if reads else (),
        "parameters": (moved := [each for each in parameters if each.has_moved][:MOST_PARAMETERS]),
        "parameters_left": len(parameters) - len(moved),
        "parameters_sentence": parameters_sentence(parameters),
        "spending_said": both_say(runs),
        "keymap": KEYMAP,
    }


@require_safe
def compare_cases(request: ProjectRequest, number: int, candidate: int) -> HttpResponse:
    """List the examples that moved in a layer, a tool or a cell, or that are not compared."""
    runs = comparable_runs(request, number, candidate)
    choice = read_moved_filter(request.GET)
    start = read_number(request.GET, "start") or 0
    page = moved_page(runs, choice, start)
    context = {
        "runs": runs,
        "before": runs.before,
        "after": runs.after,
        "wanted": choice,
        "ways": [(how, choice.way(how)) for how in choice.ways],
        "page": page,
        "start": start,
        "query": choice.query(),
        "layers": [*(row.name for row in runs.comparison.layers), *_beside(runs)],
        "chips": part_chips(runs, lambda part: choice.query(part=part)),
        "pages": _pages(choice, start, page.more),
    }
    return render(request, "reports/compare_cases.html", context)


def _pages(moved_filter: MovedFilter, start: int, more: int | None) -> list[tuple[str, str]]:
    pages = [("First examples", moved_filter.query())] if start else []
    return pages + ([("More examples", f"{moved_filter.query()}&start={more}")] if more else [])


@require_safe
def compare_case(request: ProjectRequest, number: int, candidate: int, revision: UUID) -> HttpResponse:
    """Show one example with what both runs did, within the list that it was opened from."""
    runs = comparable_runs(request, number, candidate)
    choice = read_moved_filter(request.GET)
    paired = paired_case(
        runs, revision, choice, [read_number(request.GET, name) or 1 for name in ("before", "after")], request
    )
    if paired is None:
        raise Http404
    context = {"runs": runs, "before": runs.before, "after": runs.after, "found": paired, "wanted": choice}
    return render(request, "reports/compare_case.html", context | {"query": choice.query(), "keymap": CASE_KEYMAP})


CASE_KEYMAP = (("Next, previous example", ("J", "K")), ("Copy link", ("C",)), ("Back", ("Esc",)))


# Each table of two runs, and what is in it.
TABLES: Mapping[str, tuple[Table, Callable[[TwoRuns], Iterable[Any]]]] = {
    "layers": (tables.LAYERS, lambda runs: runs.comparison.layers),
    "tools": (tables.TOOLS, lambda runs: runs.comparison.tools),
    "matrix": (tables.MATRIX, lambda runs: runs.comparison.matrix.cells),
    "judges": (tables.JUDGES, judge_deltas),
    "metrics": (tables.METRICS, compared_metrics),
    "spending": (tables.SPENDING, compared_spending),
    "parameters": (tables.PARAMETERS, compared_parameters),
    "registry": (tables.REGISTRY, lambda runs: tables.registry(registry_change(runs, runs.comparison))),
}


def whole_table(name: str) -> Callable[[ProjectRequest, int, int], HttpResponseBase]:
    """Return the view that sends a table of two runs, whole."""
    table, rows = TABLES[name]

    @require_safe
    def send(request: ProjectRequest, number: int, candidate: int) -> HttpResponseBase:
        return table_file(_name(number, candidate, name), table, rows(comparable_runs(request, number, candidate)))

    return send


@require_safe
def strata_csv(request: ProjectRequest, number: int, candidate: int) -> StreamingHttpResponse:
    """Send what changed in a layer, by `layer`, in each value of a stratum, by `by`."""
    runs = comparable_runs(request, number, candidate)
    layer, name = runs.comparison.layer(text(request.GET, "layer")), stratum_named(text(request.GET, "by"))
    rows = strata_of(runs, name, layer.name) if layer else ()
    return table_file(_name(number, candidate, "strata"), tables.STRATA, stratum_rows(name, rows))


@require_safe
def cases_csv(request: ProjectRequest, number: int, candidate: int) -> HttpResponseBase:
    """Send the examples of a list, trial by trial."""
    runs = comparable_runs(request, number, candidate)
    return long_csv(request, compared_table(runs, request.GET))


def _beside(runs: TwoRuns) -> list[str]:
    """Return what examples can have moved in besides the layers: what judges say, metrics, what conversations take."""
    return [*(row.name for row in shared_judges(runs)), *shared_metrics(runs), *(UNITS if both_say(runs) else ())]


def _name(number: int, candidate: int, table: str) -> str:
    return f"run-{number}-to-{candidate}-{table}"


def _url(request: ProjectRequest, name: str, *numbers: int) -> str:
    return reverse(f"reports:{name}", args=[request.project.slug, *numbers])
