"""Writes traces and calls of tools as files: columns (see docs/tables.md) and rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final
from uuid import UUID

from toolevals.presentation.csv import Cell
from toolevals.presentation.table import Column, Table
from toolevals.traces.models import Trace, TraceJudge
from toolevals.traces.production.rule_trends import RuleTrend
from toolevals.traces.production.tool_changes import MEASURES
from toolevals.traces.production.tool_figures import ToolFigures

TRACES: Final = (
    "trace_id", "otel_trace_id", "name", "started_at", "received_at", "duration_ms", "agent", "agent_version", "model",
    "session", "user", "spans", "calls", "failed_calls", "tools", "error_classes", "input_tokens", "output_tokens",
    "cost", "is_whole", "error", "request",
)  # fmt: skip
TOOL_FIGURES: Final = (
    "tool", "part", "calls", "traces", "failed", "error_rate", "error_rate_low", "error_rate_high", "errors_by_class",
    "checked", "misfits", "misfit_rate", "misfit_rate_low", "misfit_rate_high", "p50_ms", "p95_ms", "p99_ms",
)  # fmt: skip
JUDGES_OF_TRACES: Final = (
    "judge_id", "judge", "judge_model", "rule", "is_on", "share", "most_questions", "most_tokens", "most_cost",
    "questions_today", "tokens_today", "cost_today", "waiting", "not_judged_today", "trouble", "span_kind",
)  # fmt: skip
RULE_DAYS: Final = (
    "rule", "day", "passed", "failed", "unscored", "errored", "traces", "rate", "rate_low", "rate_high",
    "judge", "judge_model", "not_judged", "span_kind",
)  # fmt: skip
TRACE_COSTS: Final = Table(
    "CostFigures",
    "Shows what the traces of one part took together; `costed` are those whose cost is known.",
    (
        Column("part", words="The version, agent, model or day; empty where not split."),
        Column("traces", int),
        Column("input_tokens", int),
        Column("output_tokens", int),
        Column("costed", int),
        Column("cost", float, words="In the currency in which costs came.", optional=True),
        Column("cost_of_each", float, optional=True),
        Column("looped", int, words="Traces in which the rule on loops failed."),
    ),
)
TOOL_CHANGES: Final = Table(
    "ToolChange",
    "A rate of a tool that surely changed, as the page marks it.",
    (
        Column("change_id", UUID, words="The same in every export of the same table."),
        Column("tool"),
        Column("part", words="The version where the table is split by it."),
        Column("measure", MEASURES),
        Column("against", words="The version or the days that it is compared with."),
        Column("before", float, words="From 0 to 1."),
        Column("after", float, words="From 0 to 1."),
        Column("p_value", float, words="Two-sided, adjusted for all rates of the table."),
    ),
)

POLICIES_OF_TRACES: Final = Table(
    "CheckedPolicy",
    "A policy that traces are checked by, with its verdicts on calls in traces that came since a day.",
    (
        Column("policy", words="Its short name."),
        Column("name"),
        Column("rule", words="The name that its verdicts have."),
        Column("version", int, words="The version that traces are checked by now."),
        Column("share", float, words="Of the traces, 0 to 1."),
        Column("since", words="A day."),
        Column("passed", int),
        Column("failed", int, words="Calls that it would refuse, or whose result it would."),
        Column("unscored", int),
    ),
)


def rule_day_lines(trends: Iterable[RuleTrend]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each rule and day on which it said something."""
    for trend in trends:
        for each in trend.days:
            rate = each.rate
            yield (
                trend.rule.name, str(each.day), each.passed, each.failed, each.unscored, each.errored, rate.examples,
                rate.value, rate.low, rate.high, trend.rule.judge, trend.rule.model,
                each.not_judged if trend.rule.judge else None, trend.rule.kind,
            )  # fmt: skip


def judge_of_traces_lines(judges: Iterable[TraceJudge]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each judge that was read `with_today`; costs are empty where it has no prices."""
    for each in judges:
        today = vars(each)
        yield (
            each.judge_id, each.judge.name, each.judge.model, each.rule, each.is_on, each.share, each.most_questions,
            each.most_tokens, each.most_cost, today["questions_today"], today["tokens_today"],
            today["cost_today"] if each.judge.prices else None, today["waiting"], today["not_judged_today"],
            each.trouble, each.span_kind,
        )  # fmt: skip


def tool_figure_lines(figures: Iterable[ToolFigures]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each tool, or part of its calls; classes of errors as `404:3`, parted by spaces."""
    for each in figures:
        classes = " ".join(f"{name}:{count}" for name, count in each.by_class)
        errors, misfits = each.errors_known, each.misfits_known
        yield (
            each.tool, each.part, each.calls, errors.examples, each.failed, errors.value, errors.low, errors.high,
            classes, each.checked, each.misfits, misfits.value, misfits.low, misfits.high, *each.percentiles,
        )  # fmt: skip


def trace_lines(traces: Iterable[Trace]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each trace; several tools, or classes of errors, are parted by spaces."""
    for each in traces:
        yield (
            each.pk, each.trace_id.hex, each.name, each.started_at, each.received_at, each.duration_ms, each.agent,
            each.agent_version, each.model, each.session, each.end_user, each.spans, each.calls, each.failed_calls,
            " ".join(each.tools), " ".join(each.error_classes), each.input_tokens, each.output_tokens, each.cost,
            each.is_whole, each.error, each.request,
        )  # fmt: skip
