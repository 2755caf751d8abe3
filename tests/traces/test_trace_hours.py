"""Hours whose traces are counted once: the figures are those of the traces, whatever comes late or goes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from tests.traces.sending import conversation, export, send
from toolevals.traces.intake.models import first_id
from toolevals.traces.intake.retention import traces_forget
from toolevals.traces.models import SpanVerdict, ToolUse, Trace, TraceHour
from toolevals.traces.production.rule_trends import rule_trends, trend_filter
from toolevals.traces.production.tool_figures import ToolFigures, tool_figures
from toolevals.traces.production.trace_costs import cost_figures
from toolevals.traces.production.trace_hours import trace_hours_count
from toolevals.traces.reading.filters import TraceFilter
from toolevals.traces.reading.services import traces_settle

MORNING = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
GONE = '{"error": "order not found", "code": 404}'
LATER = MORNING + timedelta(days=2)


@pytest.fixture
def came(client, token, settings) -> Callable[..., Trace]:
    """Return a function that makes a trace that came at a moment, with one call unless others of its spans are told."""
    settings.TRACES_QUIET_SECONDS = 0
    numbers = iter(range(1, 1000))

    def make(
        at: datetime, *, result: str = "shipped", version: str = "1.4.0", cost: float | None = None, spans: int = 4
    ) -> Trace:
        number = next(numbers)
        pk = UUID(int=first_id(at).int | (7 << 76) | (2 << 62) | number)
        sent = conversation(f"{number:032x}", result=result)[:spans]
        if cost is not None:
            sent[1]["attributes"].append({"key": "gen_ai.usage.cost", "value": {"doubleValue": cost}})
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("toolevals.traces.intake.services.uuid7", lambda: pk)
            send(client, token, export(*sent, version=version))
        traces_settle()
        return Trace.objects.get(pk=pk)

    return make


def told(project, split: str = "", **asked: str) -> list[object]:
    """Return what figures say, all of it."""
    wanted = TraceFilter.of(asked)

    def sums(each: ToolFigures) -> object:
        return each.by_trace.to_row(), each.share

    def everything(each: ToolFigures) -> object:
        return (
            each.tool,
            each.part,
            each.calls,
            each.errors,
            each.checked,
            each.misfits,
            each.durations,
            each.days,
            sums(each),
        )

    return [everything(each) for each in tool_figures(project, wanted, split)]


def test_figures_of_counted_hours_are_those_of_the_calls(came, project):
    for minutes in (0, 10, 29, 31, 95, 24 * 60):
        came(MORNING + timedelta(minutes=minutes), result=GONE if minutes == 10 else "shipped")
    came(MORNING + timedelta(hours=5), version="1.5.0")
    asked: list[dict[str, str]] = [
        {}, {"split": "day"}, {"split": "version"}, {"version": "1.5.0"}, {"tool": "get_order", "agent": "shop"},
        {"tool": "other"}, {"since": "2026-03-02", "until": "2026-03-02"}, {"since": "2026-03-02T09:35:00+00:00"},
        {"since": "2026-03-02T09:00:00+00:00", "until": "2026-03-02T10:01:00+00:00"},
    ]  # fmt: skip
    before = [told(project, **each) for each in asked]
    trace_hours_count(LATER)
    assert TraceHour.objects.exclude(calls=None).count() == 5
    assert [told(project, **each) for each in asked] == before
    ToolUse.objects.all().delete()
    # What is told of whole hours needs no call.
    assert told(project) == before[0]


def summed(project, split: str = "version", **asked: str) -> list[object]:
    """Return what traces took, and what rules said of them."""
    wanted = trend_filter({"since": "2026-03-01", "until": "2026-03-10", **asked})
    assert not wanted.problems
    costs: list[object] = [
        (each.part, each.traces, each.input_tokens, each.output_tokens, each.costed, each.looped, each.cost)
        for each in cost_figures(project, wanted, split)
    ]
    trends = rule_trends(project, wanted)
    assert trends
    return costs + [(each.rule, day.day, day.counts, day.tally) for each in trends for day in each.days]


@pytest.mark.parametrize("place", ["UTC", "Asia/Kolkata", "America/New_York"])
def test_costs_and_verdicts_of_counted_hours_are_those_of_the_traces(came, project, place):
    for minutes in (0, 10, 95, 15 * 60, 24 * 60):
        came(
            MORNING + timedelta(minutes=minutes), result=GONE if minutes == 10 else "shipped", cost=minutes / 8 or None
        )
    came(MORNING + timedelta(hours=5), version="1.5.0", cost=0.5)
    calls_nothing = came(MORNING + timedelta(hours=7), version="1.6.0", spans=1)
    assert not ToolUse.objects.filter(trace=calls_nothing).exists()
    SpanVerdict.objects.filter(rule="loops", trace__agent_version="1.5.0").update(status="failed")
    asked: list[dict[str, str]] = [
        {}, {"split": ""}, {"split": "day"}, {"split": "model"}, {"split": "agent"}, {"version": "1.5.0"},
        {"agent": "shop"}, {"since": "2026-03-02T09:35:00+00:00"}, {"until": "2026-03-02T10:01:00+00:00"},
    ]  # fmt: skip
    with timezone.override(place):
        before = [summed(project, **each) for each in asked]
        trace_hours_count(LATER)
        assert TraceHour.objects.exclude(calls=None).count() == 6
        assert [summed(project, **each) for each in asked] == before
        # What is kept is what is told: the traces are not looked at.
        Trace.objects.update(cost=9, agent_version="9")
        assert summed(project) == before[0]


def test_costs_of_an_hour_are_counted_again_when_one_of_its_traces_is(came, project, client, token):
    trace = came(MORNING, cost=1.0, spans=2)
    trace_hours_count(LATER)
    more = conversation(trace.trace_id.hex)
    for number, each in enumerate(more):
        each["spanId"] = f"{number + 20:016x}"
    more[1]["attributes"].append({"key": "gen_ai.usage.cost", "value": {"doubleValue": 2.0}})
    send(client, token, export(more[1]))
    traces_settle()
    assert TraceHour.objects.get().costs is None
    for _ in range(2):
        (figures,) = cost_figures(project, trend_filter({"since": "2026-03-01", "until": "2026-03-10"}))
        assert (figures.traces, figures.cost) == (1, 3.0)
        trace_hours_count(LATER)


@pytest.mark.parametrize("place", ["Asia/Kolkata", "Asia/Kathmandu", "America/New_York"])
def test_days_are_those_of_the_place(came, project, place):
    for minutes in (0, 60, 9 * 60, 9 * 60 + 5, 15 * 60 + 1):
        came(MORNING + timedelta(minutes=minutes))
    with timezone.override(place):
        before = told(project, "day"), told(project, since="2026-03-03"), told(project, until="2026-03-02")
        trace_hours_count(LATER)
        assert before == (told(project, "day"), told(project, since="2026-03-03"), told(project, until="2026-03-02"))


def test_a_trace_that_is_summed_up_again_has_its_hour_counted_again(came, project, client, token):
    trace = came(MORNING)
    trace_hours_count(LATER)
    more = conversation(trace.trace_id.hex)
    for number, each in enumerate(more):
        each["spanId"] = f"{number + 20:016x}"
    send(client, token, export(more[2]))
    traces_settle()
    assert TraceHour.objects.get().calls is None
    calls = ToolUse.objects.count()
    assert [each.calls for each in tool_figures(project, TraceFilter())] == [calls]
    trace_hours_count(LATER)
    assert [each.calls for each in tool_figures(project, TraceFilter())] == [calls]


def test_an_hour_is_counted_only_when_it_has_been_over_for_a_while(came, project):
    came(MORNING)
    trace_hours_count(MORNING + timedelta(minutes=31))
    assert TraceHour.objects.get().calls is None
    trace_hours_count(MORNING + timedelta(minutes=36))
    assert TraceHour.objects.get().calls is not None


def test_calls_of_traces_that_went_are_counted_no_more(came, project):
    came(MORNING)
    kept = came(MORNING + timedelta(minutes=1))
    trace_hours_count(LATER)
    Trace.objects.exclude(pk=kept.pk).update(received_at=MORNING)
    traces_forget(LATER + timedelta(days=30))
    assert [each.calls for each in tool_figures(project, TraceFilter())] == [1]
    trace_hours_count(LATER)
    assert [each.calls for each in tool_figures(project, TraceFilter())] == [1]
    Trace.objects.update(received_at=MORNING)
    traces_forget(LATER + timedelta(days=30))
    trace_hours_count(LATER)
    assert not TraceHour.objects.exists()
    assert tool_figures(project, TraceFilter()) == []
