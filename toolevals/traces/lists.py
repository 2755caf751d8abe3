"""Writes traces and calls of tools as files: columns (see docs/tables.md) and rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from toolevals.presentation.csv import Cell
from toolevals.traces.models import Trace, TraceJudge
from toolevals.traces.production.rule_trends import RuleTrend
from toolevals.traces.production.tool_changes import ToolChange
from toolevals.traces.production.tool_figures import ToolFigures
from toolevals.traces.production.trace_costs import CostFigures

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
TRACE_COSTS: Final = (
    "part", "traces", "input_tokens", "output_tokens", "costed", "cost", "cost_of_each", "looped",
)  # fmt: skip
TOOL_CHANGES: Final = ("change_id", "tool", "part", "measure", "against", "before", "after", "p_value")
RULE_DAYS: Final = (
    "rule", "day", "passed", "failed", "unscored", "errored", "traces", "rate", "rate_low", "rate_high",
    "judge", "judge_model", "not_judged", "span_kind",
)  # fmt: skip


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


def trace_cost_lines(figures: Iterable[CostFigures]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each part of the traces; costs are empty where none is known."""
    for each in figures:
        yield (
            each.part, each.traces, each.input_tokens, each.output_tokens, each.costed, each.cost, each.cost_of_each,
            each.looped,
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


def tool_change_lines(changes: Iterable[ToolChange]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each change that is marked; rates are from 0 to 1."""
    for each in changes:
        yield (
            each.change_id, each.tool, each.part, each.measure, each.against, each.before, each.after, each.p_value,
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
