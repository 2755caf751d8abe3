"""The trends of an experiment: its runs, and a chart for each rate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import Http404

from reports.analyses.floors import highest
from reports.analyses.modes import words
from reports.analyses.trend import Series, Trend, TrendRow, trend_of
from reports.floor_queries import version_floors
from reports.queries import verdict_counts_of
from reports.run_facts import recent_runs
from toolevals.presentation.figures import TrendPoint, trend
from toolevals.presentation.numbers import percent, span
from toolevals.runs.models import Experiment
from toolevals.workspace.requests import ProjectRequest

MOST_RUNS = 200
TOKENS = {"selection": "layer-selection", "arguments": "layer-arguments"}


@dataclass(frozen=True, slots=True)
class TrendChart:
    """One rate: its series, and the id under which the page's script finds the chart."""

    series: Series
    chart_id: str
    chart: dict[str, Any]
    # The highest floor, as a share, and which one it is.
    floor: tuple[float, str] | None

    @property
    def newest(self) -> TrendRow:
        return self.series.rows[-1]


def experiment_of(request: ProjectRequest, slug: str) -> Experiment:
    """Return the project's experiment, or raise Http404."""
    found = Experiment.objects.filter(project=request.project, slug=slug).first()
    if found is None:
        raise Http404
    return found


def experiment_trend(experiment: Experiment) -> Trend:
    """Return the rates of the experiment's newest runs, oldest first."""
    runs = recent_runs(experiment, most=MOST_RUNS)
    counts = verdict_counts_of([grading for _, grading in runs])
    return trend_of([(facts, counts.get(grading, {})) for facts, grading in runs])


def trend_charts(found: Trend) -> tuple[TrendChart, ...]:
    """Return a chart for each rate that has something to show, with the highest floor of the newest run's version."""
    known = highest(version_floors(found.rows[-1].run.dataset_version)) if found.rows else {}
    # One that lies at nothing says nothing.
    floors = {name: floor for name, floor in known.items() if floor[0]}
    places = {row.run.number: place for place, row in enumerate(found.rows)}
    return tuple(
        TrendChart(series, f"trend-{series.name}", _chart(series, places, floors), floors.get(series.name))
        for series in found.series
    )


def _chart(series: Series, places: dict[int, int], floors: Mapping[str, tuple[float, str]]) -> dict[str, Any]:
    segments = [[_point(row, series.name, places[row.run.number]) for row in part] for part in series.segments]
    floor = 100 * floors[series.name][0] if series.name in floors else None
    changes = [(places[row.run.number], ", ".join(row.run.changes)) for row in series.rows if row.run.changes]
    return trend(segments, goal=100 * series.goal, token=TOKENS.get(series.name, "ink"), floor=floor, changes=changes)


def _point(row: TrendRow, name: str, place: int) -> TrendPoint:
    rate, run = row.rates[name], row.run
    value, low, high = (100 * (share or 0.0) for share in (rate.value, rate.low, rate.high))
    hover = [
        f"run {run.number}, {run.subject}",
        f"{words(name)} {percent(rate.value)} % ({span(rate.low, rate.high)})",
        f"{rate.passed:,} of {rate.total:,} on {run.dataset}",
    ]
    return TrendPoint(
        place, str(run.number), value, low, high, [*hover, *([f"new: {run.changed}"] if run.changed else [])]
    )
