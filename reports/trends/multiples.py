"""Draw the last runs of an experiment as small pictures, one for each rate."""

from __future__ import annotations

from dataclasses import dataclass

from reports.analyses.trend import Series
from reports.queries.run_facts import recent_runs
from reports.rates import Rate
from reports.trends.page import runs_trend
from toolevals.presentation.sparks import Spark, spark
from toolevals.runs.models import Run

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
