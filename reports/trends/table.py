"""Define the table of rates over runs, and tell which rates its file or answer gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from reports.filters.case_filters import choice
from reports.run.metrics import metric_trend
from reports.trends.analysis import Point, Trend
from reports.trends.page import runs_trend
from reports.trends.queries import Scope
from reports.trends.rates import ToolRate, judge_points, judged_runs, parameter_trend, runs_tool_trend
from toolevals.presentation.table import RATE, Column, Table, in_file

RUN: Final = (
    Column("run", int, "run.number"),
    Column("grading_id", UUID, "run.grading", optional=True),
    Column("experiment", str, "run.experiment"),
    Column("created_at", datetime, "run.created_at"),
    Column("agent", str, "run.agent"),
    Column("dataset", str, "run.dataset"),
    Column("changed", str, "run.changed"),
)
TOOK: Final = (
    Column("cost_of_case", float, "run.took.cost_of_case", "Money, by prices.", optional=True),
    Column("tokens_of_case", float, "run.took.tokens_of_case", "The mean of tokens in and out.", optional=True),
    Column("latency_p95", float, "run.took.latency_p95", "Milliseconds of a conversation.", optional=True),
)
TRENDS: Final = Table(
    "TrendRate",
    "One rate of one run. Runs with the same `line` are joined; `broken` says why a run is not joined to the last.",
    (
        *in_file(RUN),
        Column("name", only="file"),
        Column("passed", int, "rate.passed"),
        Column("total", int, "rate.total"),
        Column("rate", RATE, only="file"),
        *(Column(part, float, f"rate.{part}", optional=True, only="answer") for part in ("value", "low", "high")),
        Column("examples", int, "rate.examples"),
        Column("line", int, optional=True),
        Column("broken", many="list"),
        *(Column(name) for name in ("judge", "model", "flag")),
        Column("tool", words="Of a parameter."),
        Column("argument", words="The parameter."),
        *in_file(TOOK),
    ),
)
RUNS: Final = Table("TrendRun", "One run, with its rates by name.", (*RUN, *TOOK, Column("rates", TRENDS, many="dict")))
GRADED: Final = Table("Trend", "Graded runs, oldest first.", (Column("runs", RUNS, many="list"),))


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
