"""Show the trends of runs: a chart for each rate, numbers that open its cases, and small pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from reports.cases.queries import verdict_counts_of
from reports.rates import FEW_WORDS, Rate, few_of, rate
from reports.run.analysis import words
from reports.run.baseline_agents import highest, version_baseline_agents
from reports.trends.analysis import RunFacts, Series, Trend, TrendRow, trend_of
from reports.trends.queries import recent_runs
from toolevals.json_types import JsonObject
from toolevals.presentation.figures import TrendPoint, trend
from toolevals.presentation.numbers import percent, span
from toolevals.presentation.sparks import Spark, spark
from toolevals.runs.aggregates.sums import verdict_sums
from toolevals.runs.models import Run
from toolevals.workspace.models import Project

TOKENS = {"selection": "layer-selection", "arguments": "layer-arguments"}
# The address of the cases behind a run's rate of a name.
CasesUrl = Callable[[Project, RunFacts, str, Rate], str]


@dataclass(frozen=True, slots=True)
class TrendChart:
    """One rate: its series, and the id under which the page's script finds the chart."""

    series: Series
    chart_id: str
    chart: JsonObject
    # The share that the best baseline agent reaches, and its name.
    baseline_agent: tuple[float, str] | None = None


@dataclass(frozen=True, slots=True)
class RateShown:
    """One rate of one run in a table: `url` lists the cases that failed, or those behind the rate if none did."""

    name: str
    rate: Rate
    url: str


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run in a table, its rates in the order of the charts, and why it is not joined to the run before."""

    run: RunFacts
    shown: tuple[RateShown, ...]
    broken: tuple[str, ...] = ()


def runs_trend(runs: Sequence[RunFacts]) -> Trend:
    """Return the rates of runs, oldest first. One query, and one more where a run has several trials."""
    counts = verdict_counts_of([run.grading for run in runs if run.grading])
    sums = verdict_sums([run.grading for run in runs if run.grading and run.trials > 1])
    return trend_of([(run, counts.get(run.grading, {}) if run.grading else {}) for run in runs], sums)


def trend_charts(trend: Trend, project: Project, *, same_scale: bool = True) -> tuple[TrendChart, ...]:
    """Return a chart for each rate that has something to show, with the best baseline agent of the newest version.

    All on one scale, unless each is to have its own.
    """
    known = highest(version_baseline_agents(trend.rows[-1].run.dataset_version)) if trend.rows else {}
    # One that lies at nothing says nothing.
    baseline_agents = {name: best for name, best in known.items() if best[0]}
    least = (
        min((*(share for share, _ in baseline_agents.values()), *lowest(trend.series)))
        if same_scale and trend.series
        else None
    )
    return tuple(
        trend_chart(
            trend, series, project, f"trend-{series.name}", baseline_agent=baseline_agents.get(series.name), least=least
        )
        for series in trend.series
    )


def lowest(series: Iterable[Series]) -> Iterator[float]:
    """Yield the goal and the lowest end of an interval of each series, as shares."""
    for line in series:
        yield min(line.goal, *(row.rates[line.name].low or 0.0 for row in line.rows))


def trend_chart(
    found: Trend,
    series: Series,
    project: Project,
    chart_id: str,
    *,
    baseline_agent: tuple[float, str] | None = None,
    least: float | None = None,
) -> TrendChart:
    """Return the chart of one rate, in which every point opens its run; its axis has room for `least`, a share."""
    places = {row.run.number: place for place, row in enumerate(found.rows)}
    segments = [[_point(row, series, places[row.run.number], project) for row in part] for part in series.segments]
    chart = trend(
        segments,
        goal=100 * series.goal,
        token=TOKENS.get(series.name, "ink"),
        baseline_agent=100 * baseline_agent[0] if baseline_agent else None,
        changes=[(places[row.run.number], ", ".join(row.run.changes)) for row in series.rows if row.run.changes],
        breaks=[places[number] for number in series.broken],
        least=None if least is None else 100 * least,
    )
    return TrendChart(series, chart_id, chart, baseline_agent)


def layer_url(project: Project, run: RunFacts, column: str, rate: Rate) -> str:
    """Return the address of the cases that failed in a layer, a depth or by a judge; that of all others if none did."""
    return cases_url(project, run, column=column, status="failed" if rate.passed < rate.total else "passed")


def layer_lines(trend: Trend, project: Project, url: CasesUrl = layer_url, most: int | None = None) -> list[RunLine]:
    """Return the runs, the newest first, with the rates of the first `most` series; `url` opens the cases of a rate."""
    names = [series.name for series in trend.series[:most]]
    broken: Mapping[int, tuple[str, ...]] = trend.series[0].broken if trend.series else {}
    return [
        RunLine(
            row.run,
            tuple(
                RateShown(name, found, url(project, row.run, name, found))
                for name in names
                for found in [row.rates.get(name, rate(0, 0))]
            ),
            broken.get(row.run.number, ()),
        )
        for row in trend.rows[::-1]
    ]


def cases_url(project: Project, run: RunFacts, **query: str) -> str:
    """Return the address of a list of a run's cases."""
    return f"{reverse('reports:cases', args=[project.slug, run.number])}?{urlencode(query)}"


def _point(row: TrendRow, series: Series, place: int, project: Project) -> TrendPoint:
    rate, run = row.rates[series.name], row.run
    value, low, high = (100 * (share or 0.0) for share in (rate.value, rate.low, rate.high))
    hover = [
        f"run {run.number}, {run.agent}",
        f"{words(series.name)} {percent(rate.value)} % ({span(rate.low, rate.high)})",
        f"{rate.passed:,} of {rate.total:,} on {run.dataset}",
        *([FEW_WORDS] if few_of(rate) else []),
        *([f"new: {run.changed}"] if run.changed else []),
        *([f"not joined: {', '.join(why)}"] if (why := series.broken.get(run.number)) else []),
    ]
    url = reverse("reports:run", args=[project.slug, run.number])
    return TrendPoint(place, str(run.number), value, low, high, hover, url)


SHOWN_RUNS = 12
SHOWN = ("outcome", "selection", "arguments", "schema")


@dataclass(frozen=True, slots=True)
class SmallMultiple:
    """One rate over the last runs that can be compared with the newest of them."""

    name: str
    rate: Rate
    goal: float
    runs: tuple[int, ...]
    spark: Spark


def small_multiples(run: Run) -> tuple[SmallMultiple, ...]:
    """Return the pictures up to and including `run`; none where it stands alone."""
    runs = recent_runs(run.experiment.runs.all(), upto=run.number, most=SHOWN_RUNS)
    series = {each.name: each for each in runs_trend(runs).series}
    shown = [series[name] for name in SHOWN if name in series and len(series[name].newest) > 1]
    # One scale for all of them.
    least = min(
        (min(each.goal, *(row.rates[each.name].low or 0.0 for row in each.newest)) for each in shown), default=0.0
    )
    return tuple(_picture(each, least) for each in shown)


def _picture(series: Series, least: float) -> SmallMultiple:
    rows = series.newest
    rates = [row.rates[series.name] for row in rows]
    points = [(rate.value or 0.0, rate.low or 0.0, rate.high or 0.0) for rate in rates]
    return SmallMultiple(
        series.name,
        rates[-1],
        series.goal,
        tuple(row.run.number for row in rows),
        spark(points, goal=series.goal, least=least),
    )
