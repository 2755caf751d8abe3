"""Rates over the runs of an experiment."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from reports.analyses.rates import Rate
from reports.analyses.trend import RunFacts
from reports.judge_trend import judged_runs
from reports.trend_page import experiment_of, experiment_trend, trend_charts
from toolevals.workspace.requests import ProjectRequest


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
    names = [chart.series.name for chart in charts]
    context = {
        "experiment": found,
        "trend": trend,
        "newest_first": [RunLine(row.run, tuple(row.rates[name] for name in names)) for row in trend.rows[::-1]],
        "names": names,
        "charts": charts,
        "judged": judged_runs(found)[::-1],
        "document": {chart.chart_id: chart.chart for chart in charts},
    }
    return render(request, "reports/trends.html", context)
