"""Show rates over the runs of an experiment or of an agent, and the sentence that they open with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from reports.compare.layers import DECIDING, LayerDelta
from reports.compare.queries import MOST_COMPARED, two_runs
from reports.filters.case_filters import LONGEST_CLASS, choice, text
from reports.judges.analysis import PREFIX
from reports.public_scores.queries import run_rows
from reports.rates import Rate
from reports.run.metrics import metric_trend
from reports.trends.analysis import RunFacts, Trend
from reports.trends.page import (
    CasesUrl,
    RateShown,
    RunLine,
    TrendChart,
    cases_url,
    layer_lines,
    layer_url,
    runs_trend,
    trend_chart,
    trend_charts,
)
from reports.trends.queries import Scope, agent_scope, experiment_scope
from reports.trends.rates import ToolRate, judge_trend, judged_runs, parameter_trend, runs_tool_trend, small_trends
from toolevals.grading.metrics.clustered import FEWEST_EXAMPLES
from toolevals.presentation.numbers import count, percent
from toolevals.runs.models import Run
from toolevals.workspace.models import Project
from toolevals.workspace.requests import ProjectRequest

WAYS = {"better": ("Better", "rose"), "worse": ("Worse", "fell")}


@dataclass(frozen=True, slots=True)
class TrendSentence:
    """The sentence, and the numbers of the two runs that were compared for it, None where none were."""

    words: str
    before: int | None = None
    after: int | None = None


def trend_sentence(trend: Trend, project: Project) -> TrendSentence:
    """Return whether the outcome changed from the first run that is joined to the newest one to that newest one.

    The test is that of the comparison of the two runs. Runs between are drawn and not tested.
    """
    series = next((each for each in trend.series if each.name == DECIDING), None)
    if series is None:
        return TrendSentence("No run has a scored outcome, so there is no trend.")
    first, last = series.newest[0].run, series.newest[-1].run
    if first.number == last.number:
        alone = f"Run {last.number} cannot be compared with any earlier run, so there is no trend."
        return TrendSentence(alone if len(trend.rows) > 1 else f"Run {last.number} is the only graded run so far.")
    return _compared(first, last, len(series.newest), project)


def _compared(first: RunFacts, last: RunFacts, joined: int, project: Project) -> TrendSentence:
    numbers = first.number, last.number
    pair = two_runs(Run.objects.filter(project=project), *numbers)
    if pair and max(pair.before.size, pair.after.size) > MOST_COMPARED:
        many = f"comparisons of more than {count(MOST_COMPARED)} examples run on request only"
        return TrendSentence(f"Not tested here: run {first.number} compared with run {last.number}; {many}.", *numbers)
    if pair is None or pair.refusal:
        return TrendSentence(f"No conclusion: run {first.number} and run {last.number} cannot be compared.")
    row = next((each for each in pair.comparison.layers if each.name == DECIDING), None)
    return TrendSentence(_words(row, *numbers, joined), *numbers)


def _words(row: LayerDelta | None, first: int, last: int, joined: int) -> str:
    runs = f"over {joined} comparable runs"
    if row is None:
        return f"No conclusion {runs}: run {first} and run {last} share no scored example."
    found = row.compared
    rates = f"{percent(found.before)} % of examples passed in run {first}, {percent(found.after)} % in run {last}"
    if not row.tells:
        many = f"{count(found.examples)} shared example{'' if found.examples == 1 else 's'}"
        return f"No conclusion {runs}: {rates}, and {many} are too few; at least {FEWEST_EXAMPLES} are needed."
    if row.change == "same":
        return f"No change {runs}: every example has the same result in run {first} and run {last}."
    if row.change == "unclear":
        return f"No significant change {runs}: {rates}."
    word, way = WAYS[row.change]
    return (
        f"Significantly {word.lower()} {runs}: the pass rate {way} from {percent(found.before)} % of examples in run "
        f"{first} to {percent(found.after)} % in run {last}."
    )


# The worst; the rest is one click away.
MOST_TOOLS = 24
# What moved most, over the newest runs: there may be hundreds of parameters. The rest is in the file.
MOST_PARAMETERS, MOST_RUNS_OF_PARAMETERS = 5, 50


@dataclass(frozen=True, slots=True)
class Followed:
    """One tool, parameter, metric or judge by itself: its chart, and its rate in every run that has one."""

    name: str
    chart: TrendChart
    lines: tuple[RunLine, ...]


@require_safe
def trends(request: ProjectRequest, experiment: str) -> HttpResponse:
    """Show each rate of an experiment's runs as a line with its band, and all of them as a table."""
    return render(request, "reports/trends.html", _context(request, experiment_scope(request, experiment)))


@require_safe
def agent_trends(request: ProjectRequest) -> HttpResponse:
    """Show the same of an agent's runs on one dataset, over its states and over experiments."""
    return render(request, "reports/trends_of_agent.html", _context(request, agent_scope(request)))


def _context(request: ProjectRequest, scope: Scope) -> dict[str, Any]:
    project, runs = request.project, scope.recent
    trend, judged = runs_trend(runs), judged_runs(runs)
    which = choice(ToolRate, request.GET, "rate", ToolRate.RECALL)
    tools, judges, metrics = runs_tool_trend(runs, which), judge_trend(judged), metric_trend(runs)
    parameters = parameter_trend(runs[-MOST_RUNS_OF_PARAMETERS:])
    same = request.GET.get("scale") != "own"
    charts = trend_charts(trend, project, same_scale=same)
    everything = request.GET.get("tools") == "all"

    def tool_url(project: Project, run: RunFacts, name: str, _: Rate) -> str:
        return cases_url(project, run, **{which.column: name})

    followed = [
        *_followed(tools, text(request.GET, "tool", LONGEST_CLASS), "tool", project, tool_url),
        *_followed(
            parameters.trend, text(request.GET, "parameter", LONGEST_CLASS), "parameter", project, parameters.url
        ),
        *_followed(judges, text(request.GET, "judge"), "judge", project),
        *_followed(metrics, text(request.GET, "metric"), "metric", project),
    ]
    groups = (
        ("Layers and depths", "", trend, layer_url),
        (f"Tools, {which}", "tools", tools, tool_url),
        ("Arguments that are right", "parameters", parameters.trend, parameters.url),
        ("Means of metrics", "", metrics, layer_url),
        ("Judges", "", judges, layer_url),
    )
    return {
        "scope": scope,
        # Nothing is drawn of one run: its rates are one table.
        "alone": [
            (title, of, line.shown, max(0, len(each.series) - MOST_TOOLS))
            for title, of, each, url in groups
            for line in layer_lines(each, project, url, MOST_TOOLS)
            if line.shown
        ]
        if len(trend.rows) == 1
        else [],
        "experiment": scope.experiment,
        "trend": trend,
        "sentence": trend_sentence(trend, project),
        "newest_first": layer_lines(trend, project),
        "charts": charts,
        "followed": followed,
        "spent": [run for run in runs[::-1] if run.took.says_of_cases],
        "judged": judged[::-1],
        "judge_multiples": small_trends(judges, same_scale=same),
        "metric_lines": layer_lines(metrics, project),
        "metric_multiples": small_trends(metrics, same_scale=same),
        "tool_multiples": small_trends(tools, None if everything else MOST_TOOLS, same_scale=same),
        "parameter_lines": layer_lines(parameters.trend, project, parameters.url, MOST_PARAMETERS),
        "parameter_multiples": small_trends(parameters.trend, MOST_PARAMETERS, same_scale=same),
        "parameters_left": max(0, len(parameters.trend.series) - MOST_PARAMETERS),
        "same_scale": same,
        "public": run_rows(project, runs[-1].number) if runs else (),
        "tools_left": 0 if everything else max(0, len(tools.series) - MOST_TOOLS),
        "which": which,
        "rates": list(ToolRate),
        "judge_prefix": PREFIX,
        "document": {chart.chart_id: chart.chart for chart in (*charts, *(each.chart for each in followed))}
        if len(trend.rows) > 1
        else {},
    }


def _followed(trend: Trend, name: str, kind: str, project: Project, cases: CasesUrl = layer_url) -> list[Followed]:
    """Return the one that the address names, if it has something to show; `cases` opens those of a rate."""
    series = next((each for each in trend.series if each.name == name), None)
    if series is None:
        return []
    lines = []
    for row in series.rows[::-1]:
        rate = row.rates[name]
        url = cases(project, row.run, name, rate)
        lines.append(RunLine(row.run, (RateShown(name, rate, url),), series.broken.get(row.run.number, ())))
    chart = trend_chart(trend, series, project, f"trend-of-{kind}")
    return [Followed(name, chart, tuple(lines))]
