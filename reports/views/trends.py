"""Rates over the runs of an experiment."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from reports.analyses.rates import Rate
from reports.analyses.trend import RunFacts
from reports.filters import choice
from reports.judge_trend import judged_runs
from reports.tool_trend import ToolRate, experiment_tool_trend, small_judge_trends, small_tool_trends
from reports.trend_page import experiment_of, experiment_trend, trend_charts
from toolevals.workspace.requests import ProjectRequest

# The worst; the rest is one click away.
MOST_TOOLS = 24


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run in the table, its rates in the order of the charts."""

    run: RunFacts
    shown: tuple[Rate, ...]


@require_safe
def trends(request: ProjectRequest, experiment: str) -> HttpResponse:
    """Show each rate as a line with its band, and all of them as a table."""
    found = experiment_of(request, experiment)
    trend = experiment_trend(found)
    charts = trend_charts(trend)
    which = choice(ToolRate, request.GET, "rate", ToolRate.RECALL)
    tools, judged = experiment_tool_trend(found, which), judged_runs(found)
    everything = request.GET.get("tools") == "all"
    names = [chart.series.name for chart in charts]
    context = {
        "experiment": found,
        "trend": trend,
        "newest_first": [RunLine(row.run, tuple(row.rates[name] for name in names)) for row in trend.rows[::-1]],
        "names": names,
        "charts": charts,
        "judged": judged[::-1],
        "judge_multiples": small_judge_trends(judged),
        "tool_multiples": small_tool_trends(tools, None if everything else MOST_TOOLS),
        "tools_left": 0 if everything else max(0, len(tools.series) - MOST_TOOLS),
        "which": which,
        "rates": list(ToolRate),
        "document": {chart.chart_id: chart.chart for chart in charts},
    }
    return render(request, "reports/trends.html", context)
