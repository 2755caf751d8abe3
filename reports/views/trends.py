"""Show rates over the runs of an experiment, or over those of an agent in any experiment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from reports.analyses.trend import Trend
from reports.filters.case_filters import LONGEST_CLASS, choice, text
from reports.judges.analysis import PREFIX
from reports.public_scores.compared_runs import run_rows
from reports.run.metrics import metric_trend
from reports.trends.judges import judge_trend, judged_runs
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
from reports.trends.parameters import parameter_trend
from reports.trends.scope import Scope, agent_scope, experiment_scope
from reports.trends.sentence import trend_sentence
from reports.trends.tools import ToolRate, runs_tool_trend, small_trends
from toolevals.workspace.models import Project
from toolevals.workspace.requests import ProjectRequest

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
    followed = [
        *_followed(
            tools,
            text(request.GET, "tool", LONGEST_CLASS),
            "tool",
            project,
            lambda project, run, name, _: cases_url(project, run, **{which.column: name}),
        ),
        *_followed(
            parameters.trend, text(request.GET, "parameter", LONGEST_CLASS), "parameter", project, parameters.url
        ),
        *_followed(judges, text(request.GET, "judge"), "judge", project),
        *_followed(metrics, text(request.GET, "metric"), "metric", project),
    ]
    return {
        "scope": scope,
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
        "document": {chart.chart_id: chart.chart for chart in (*charts, *(each.chart for each in followed))},
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
