"""Follow the parameters of tools over runs: the share of calls to the right tool whose parameter is right."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from django.db.models import F, Sum

from reports.analyses.trend import Point, RunFacts, Series, Trend, TrendRow, apart_by_grader, series_of
from reports.cases.queries import verdict_counts_of
from reports.rates import GOALS, Rate
from reports.run.arguments import ALL_TOGETHER, ANY_WRONG, WRONG, wrong_rate
from reports.trends.page import cases_url
from toolevals.grading.values.verdicts import NONE
from toolevals.runs.counts.counted_cases import View
from toolevals.runs.counts.kept_sums import kept_sums_of
from toolevals.runs.models import ArgumentCount, Grading, MatrixCount
from toolevals.workspace.models import Project

# A tool and one of its parameters.
Parameter = tuple[str, str]
_LAYER: Final = "arguments"


@dataclass(frozen=True, slots=True)
class ParameterTrend:
    """The rate of each parameter that is wrong in any of the runs, what moved most first; `named` tells which it is."""

    trend: Trend
    named: Mapping[str, Parameter]

    @property
    def points(self) -> Iterator[Point]:
        """Every rate of every run, with its tool and its argument."""
        for point in self.trend.points:
            tool, argument = self.named[point.name]
            yield replace(point, tool=tool, argument=argument)

    def url(self, project: Project, run: RunFacts, name: str, rate: Rate) -> str:
        """Return the address of the cases in which a parameter is wrong; of all calls to its tool where none is."""
        tool, argument = self.named[name]
        if rate.passed < rate.total:
            return cases_url(project, run, fault=ANY_WRONG, tool=tool, parameter=argument)
        return cases_url(project, run, view=View.ALIGNED, expected=tool, actual=tool)


def parameter_trend(runs: Sequence[RunFacts]) -> ParameterTrend:
    """Return the trend of parameters, from runs oldest first. As many queries for one run as for all.

    Runs whose wrong arguments were not counted by parameter have no rates.
    """
    verdicts = verdict_counts_of([run.grading for run in runs if run.grading])
    wrong: defaultdict[UUID, dict[Parameter, int]] = defaultdict(dict)
    counts = ArgumentCount.objects.filter(grading__in=verdicts, kind__in=WRONG).order_by()
    for grading, tool, argument, count in counts.values_list("grading_id", "tool", "argument").annotate(Sum("count")):
        wrong[grading][tool, argument] = count
    calls: defaultdict[UUID, dict[str, int]] = defaultdict(dict)
    right = MatrixCount.objects.filter(grading__in=verdicts, view=View.ALIGNED, expected=F("actual"))
    for grading, tool, count in right.exclude(expected=NONE).values_list("grading_id", "expected", "count"):
        calls[grading][tool] = count
    sums = kept_sums_of(list(Grading.objects.filter(pk__in=list(calls)).select_related("run")), _LAYER)
    named = {_name(*each): each for each in sorted({each for found in wrong.values() for each in found})}
    rows = []
    for run in runs:
        rates, grading = {}, run.grading
        if (
            grading is not None
            and grading in calls
            and (grading in wrong or not verdicts.get(grading, {}).get(_LAYER, {}).get("failed"))
        ):
            rates = {
                name: _right(wrong_rate(wrong[grading].get(each, 0), calls[grading][each[0]], each, sums[grading]))
                for name, each in named.items()
                if each[0] in calls[grading]
            }
        rows.append(TrendRow(run, rates))
    series = series_of(rows, tuple(named), lambda _: GOALS[_LAYER], lambda a, b, _: apart_by_grader(a, b, _LAYER))
    return ParameterTrend(Trend(tuple(rows), tuple(sorted(series, key=_order))), named)


def _name(tool: str, argument: str) -> str:
    """Return what a parameter is called: "date of search"; parts that could be read otherwise are quoted."""
    parts = (
        json.dumps(part) if " of " in part or part[:1] == '"' or part == ALL_TOGETHER else part
        for part in (argument, tool)
    )
    return " of ".join(part or ALL_TOGETHER for part in parts)


def _right(wrong: Rate) -> Rate:
    if not wrong.total or wrong.low is None or wrong.high is None:
        return wrong
    passed = wrong.total - wrong.passed
    share = passed / wrong.total
    # Floats may miss the share by a hair.
    return replace(wrong, passed=passed, value=share, low=min(share, 1 - wrong.high), high=max(share, 1 - wrong.low))


def _order(series: Series) -> tuple[int, float, str]:
    """Put first what the newest run has, then by how far apart the intervals of the first and last joined run are."""
    first, last = (series.newest[place].rates[series.name] for place in (0, -1))
    gap = max((last.low or 0) - (first.high or 0), (first.low or 0) - (last.high or 0))
    return -series.rows[-1].run.number, -gap if len(series.newest) > 1 else 1.0, series.name
