"""Work out agreement over time, by day or by week. Plain values in and out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby

from labeling.agreement.units import Unit
from toolevals.grading.metrics.rates import Estimate, wilson

# Up to so many days from the first to the last they are told day by day, else week by week.
MOST_DAYS = 28
WEEK = 7
MOST_PERIODS = 52


@dataclass(frozen=True, slots=True)
class Period:
    """The units whose last label came in between two days, both included, and how far they agree on the tool."""

    since: date
    until: date
    same_tool: Estimate
    same_label: Estimate


def periods_of(units: Iterable[Unit]) -> list[Period]:
    """Return the newest days, or weeks from Monday to Sunday, in which units were labelled; the oldest first."""
    compared = sorted(((unit.at.date(), unit) for unit in units if unit.is_compared), key=lambda one: one[0])
    if not compared:
        return []
    is_short = (compared[-1][0] - compared[0][0]).days < MOST_DAYS
    length = 1 if is_short else WEEK
    periods = []
    for start, dated in groupby(compared, key=lambda one: one[0] if is_short else _monday(one[0])):
        periods.append(_period([unit for _, unit in dated], start, start + timedelta(days=length - 1)))
    return periods[-MOST_PERIODS:]


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _period(units: Sequence[Unit], since: date, until: date) -> Period:
    same_tool = sum(unit.has_same_tool for unit in units)
    same_label = sum(unit.has_same_label for unit in units)
    return Period(since, until, share(same_tool, len(units)), share(same_label, len(units)))


def share(part: int, whole: int) -> Estimate:
    """Return a proportion with Wilson's interval."""
    if not whole:
        return Estimate.undefined("nothing was counted")
    return Estimate(part / whole, wilson(part, whole), whole)
