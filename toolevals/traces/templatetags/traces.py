"""Writes durations, costs and shares as people read them, and the links behind figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django import template
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from labeling.models import Example
from toolevals.grading.metrics.clustered import Rate
from toolevals.presentation.numbers import percent, span
from toolevals.traces.judges.rules import JudgeRule
from toolevals.traces.models import TraceExample, TraceJudge
from toolevals.traces.production.rule_trends import STATUSES, RuleDay, RuleTrend
from toolevals.traces.production.tool_changes import ToolChange, days_before
from toolevals.traces.production.tool_counts import LEAST_OF_CLASS
from toolevals.traces.production.tool_figures import ToolFigures
from toolevals.traces.production.trace_costs import LOOPS, CostFigures
from toolevals.traces.reading.filters import TraceFilter
from toolevals.traces.reading.page import Judged
from toolevals.workspace.clock import database_now

register = template.Library()


@register.filter
def took(milliseconds: float | None) -> str:
    """Return a time in milliseconds as "410 ms", "1.32 s" or "3.2 min"; a dash where it is not known."""
    if milliseconds is None:
        return "–"
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms" if milliseconds >= 10 else f"{milliseconds:.1f} ms"
    seconds = milliseconds / 1000
    return f"{seconds:.2f} s" if seconds < 120 else f"{seconds / 60:,.1f} min"


@register.filter
def money(amount: float | None) -> str:
    """Return a cost in the currency in which it came, with as many digits as tell something; empty if not known."""
    if amount is None:
        return ""
    return f"{amount:.4f}" if abs(amount) < 1 else f"{amount:,.2f}"


@register.filter
def share(rate: float | None) -> str:
    """Return a share of 0..1 in percent; a dash where there is none."""
    return percent(rate)


@register.filter
def known(rate: Rate) -> SafeString:
    """Return the interval of a rate as small words, "3.1 to 8.0"; nothing where there is none."""
    if rate.interval is None:
        return SafeString("")
    return format_html('<span class="xs faint nowrap">{}</span>', span(rate.low, rate.high))


@register.filter
def of_row(changes: Mapping[tuple[str, str], Sequence[ToolChange]], figures: ToolFigures) -> Sequence[ToolChange]:
    """Return the changes that are marked in a row of figures."""
    return changes.get((figures.tool, figures.part), ())


@register.simple_tag(takes_context=True)
def tool_links(
    context: template.Context, trace_filter: TraceFilter, split: str, figures: ToolFigures
) -> dict[str, Any]:
    """Return the addresses behind a row of figures: the tool by itself, its traces, and those with an error.

    Each percentile has the traces of calls that took so long at least.
    """
    project = context["project"].slug
    said = {name: value for name, value in trace_filter.said.items() if name in ("since", "until", "agent", "version")}
    said["tool"] = figures.tool
    alone = reverse("traces:tools", args=[project]) + "?" + urlencode(said | {"by": split or "day"})
    said |= _of_part(split, figures.part)
    calls = reverse("traces:traces", args=[project]) + "?" + urlencode(said)
    percentiles = [(ms, f"{calls}&min_call_ms={ms * LEAST_OF_CLASS:.6g}" if ms else "") for ms in figures.percentiles]
    return {"tool": alone, "calls": calls, "errors": f"{calls}&error=any", "percentiles": percentiles}


@register.simple_tag(takes_context=True)
def day_link(context: template.Context, trace_filter: TraceFilter, day: date) -> str:
    """Return the address of the traces of one day among those that a filter is about."""
    said = {name: value for name, value in trace_filter.said.items() if name in ("agent", "version", "tool")}
    said |= _of_part("day", str(day))
    return reverse("traces:traces", args=[context["project"].slug]) + "?" + urlencode(said)


def _of_part(split: str, part: str) -> dict[str, str]:
    """Return what an address says of the part of a table: an empty one has the traces that do not say it."""
    if split == "day":
        return {"since": part, "until": part}
    return ({split: part} if part else {"without": split}) if split else {}


@register.simple_tag(takes_context=True)
def change_link(context: template.Context, trace_filter: TraceFilter, split: str, change: ToolChange) -> str:
    """Return the address of the calls that a change is compared with."""
    before = (days_before(trace_filter) or trace_filter) if not split else trace_filter
    said = {name: value for name, value in before.said.items() if name in ("since", "until", "agent", "version")}
    said["tool"] = change.tool
    said |= _of_part("version" if split else "", change.before_part)
    said |= {"error": "any"} if change.measure == "error rate" else {}
    return reverse("traces:traces", args=[context["project"].slug]) + "?" + urlencode(said)


@register.simple_tag(takes_context=True)
def cost_links(
    context: template.Context, trace_filter: TraceFilter, split: str, figures: CostFigures
) -> dict[str, str]:
    """Return the addresses behind a row of costs: its traces, those with a cost, and those with a loop."""
    said = {name: value for name, value in trace_filter.said.items() if name in ("since", "until", "agent", "version")}
    said |= _of_part(split, figures.part)
    traces = reverse("traces:traces", args=[context["project"].slug]) + "?"
    looped = said | {"rule": LOOPS, "verdict": "failed"}
    costed = said | {"min_cost": "0"}
    return {name: traces + urlencode(some) for name, some in (("traces", said), ("costed", costed), ("looped", looped))}


@register.simple_tag(takes_context=True)
def rule_links(context: template.Context, trace_filter: TraceFilter, day: RuleDay) -> dict[str, Any]:
    """Return the addresses behind a rule's day: all traces of the day, those that the rule was about, and each count.

    A judge's are by its id: another one may have had the same rubric.
    """
    said = {name: value for name, value in trace_filter.said.items() if name in ("agent", "version")}
    return _rule_links(context, said | {"since": str(day.day), "until": str(day.day)}, day)


@register.simple_tag(takes_context=True)
def score_links(context: template.Context, trace_filter: TraceFilter, whole: RuleDay) -> dict[str, Any]:
    """Return the same behind all the days of a filter together."""
    times = ("agent", "version", "since", "until")
    return _rule_links(context, {name: value for name, value in trace_filter.said.items() if name in times}, whole)


def _rule_links(context: template.Context, said: dict[str, str], day: RuleDay) -> dict[str, Any]:
    traces = reverse("traces:traces", args=[context["project"].slug])
    judge = day.rule.judge_id if isinstance(day.rule, JudgeRule) else None
    of_rule = said | ({"judge": str(judge)} if judge else {"rule": day.rule.name})
    shown = (*STATUSES, *(("not_judged",) if judge else ()))
    return {
        "day": f"{traces}?{urlencode(said)}",
        "rule": f"{traces}?{urlencode(of_rule)}",
        "counts": [(getattr(day, name), f"{traces}?{urlencode(of_rule | {'verdict': name})}") for name in shown],
    }


@register.simple_tag(takes_context=True)
def judge_links(context: template.Context, judge: TraceJudge) -> dict[str, str]:
    """Return the addresses behind what a judge was asked today, what waits for it, and what it leaves out."""
    today = str(timezone.localdate(database_now()))
    said: dict[str, dict[str, str]] = {
        "asked": {"asked": today},
        "waiting": {"verdict": "waiting"},
        "not_judged": {"verdict": "not_judged", "since": today},
    }
    traces = reverse("traces:traces", args=[context["project"].slug])
    return {name: f"{traces}?{urlencode({'judge': str(judge.judge_id), **more})}" for name, more in said.items()}


@register.filter
def points_of(trend: RuleTrend) -> list[dict[str, float]]:
    """Return the days of a rule as points of a small picture, in percent from the left and from above."""
    known = [each for each in trend.days if each.rate.value is not None]
    first = trend.days[0].day
    span_of_days = (trend.days[-1].day - first).days + 1
    return [
        {
            "x": round(100 * ((each.day - first).days + 0.5) / span_of_days, 3),
            **{name: round(96 - 92 * (end or 0.0), 2) for name, end in _ends(each.rate)},
        }
        for each in known
    ]


def _ends(rate: Rate) -> tuple[tuple[str, float | None], ...]:
    return ("y", rate.value), ("low", rate.low), ("high", rate.high)


@register.filter
def trace_of(traces: Mapping[UUID, UUID], example: UUID) -> UUID | None:
    """Return the trace that an example was made of; None where there is none, or where it is closed."""
    return traces.get(example)


@register.simple_tag(takes_context=True)
def example_trace(context: template.Context, example: Example) -> UUID | None:
    """Return the trace that an example was made of, unless it is closed to the reader."""
    request = context["request"]
    return TraceExample.objects.open_traces(request.project, [example.pk], request.role).get(example.pk)


@register.filter
def of_span(by_span: Mapping[str, Sequence[Judged] | str], span_id: str) -> Sequence[Judged] | str:
    """Return the verdicts of a span, or its name, by its id."""
    return by_span.get(span_id, ())
