"""Tell which rates a trend's file or answer gives: those of layers and judges, of tools, or of parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reports.analyses.trend import Point, Trend
from reports.filters.case_filters import choice
from reports.run.metrics import metric_trend
from reports.trends.judges import judge_points, judged_runs
from reports.trends.page import runs_trend
from reports.trends.parameters import parameter_trend
from reports.trends.scope import Scope
from reports.trends.tools import ToolRate, runs_tool_trend


@dataclass(frozen=True, slots=True)
class TrendRequest:
    """Layers, depths and judges; or a rate of tools, None where it is not asked for; or parameters."""

    tools: ToolRate | None
    parameters: bool = False

    @property
    def suffix(self) -> str:
        """Return what a file's name says of it."""
        return "-parameters" if self.parameters else f"-{self.tools}" if self.tools else ""


def read_trend_request(parameters: Mapping[str, str]) -> TrendRequest:
    """Return what the address asks for: `of=tools`, and with it `rate`, or `of=parameters`."""
    asked = parameters.get("of")
    which = choice(ToolRate, parameters, "rate", ToolRate.RECALL) if asked == "tools" else None
    return TrendRequest(which, asked == "parameters")


def trend_of_request(scope: Scope, trend_request: TrendRequest) -> tuple[Trend, tuple[Point, ...]]:
    """Return the trend, and every rate in it: of layers and depths, then means of metrics, then rates of judges."""
    runs = scope.recent
    if trend_request.parameters:
        found = parameter_trend(runs)
        return found.trend, tuple(found.points)
    if trend_request.tools is not None:
        trend = runs_tool_trend(runs, trend_request.tools)
        return trend, tuple(trend.points)
    trend = runs_trend(runs)
    return trend, (*trend.points, *metric_trend(runs).points, *judge_points(judged_runs(runs)))
