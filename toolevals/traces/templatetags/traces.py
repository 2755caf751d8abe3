"""Durations, costs and shares as people read them, and the links behind figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode
from uuid import UUID

from django import template
from django.urls import reverse

from labeling.models import Example
from toolevals.presentation.numbers import percent
from toolevals.traces.filters import TraceFilter
from toolevals.traces.models import TraceExample
from toolevals.traces.page import Judged
from toolevals.traces.tool_figures import ToolFigures

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


@register.simple_tag(takes_context=True)
def tool_links(context: template.Context, wanted: TraceFilter, split: str, each: ToolFigures) -> dict[str, str]:
    """Return the addresses behind a row of figures: the tool by itself, its traces, and those with an error."""
    project = context["project"].slug
    said = {name: value for name, value in wanted.said.items() if name in ("since", "until", "agent", "version")}
    said["tool"] = each.tool
    alone = reverse("traces:tools", args=[project]) + "?" + urlencode(said | {"by": split or "day"})
    if split == "day":
        said |= {"since": each.part, "until": each.part}
    elif split:
        said[split] = each.part
    calls = reverse("traces:traces", args=[project]) + "?" + urlencode(said)
    return {"tool": alone, "calls": calls, "errors": f"{calls}&error=any"}


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
def of_span(by_span: Mapping[str, Sequence[Judged]], span_id: str) -> Sequence[Judged]:
    """Return the verdicts of a span."""
    return by_span.get(span_id, ())
