"""Figures of tools in production, and the traces behind each."""

from __future__ import annotations

import csv
import io
import re
from typing import Any
from urllib.parse import parse_qsl

import pytest
from django.utils import timezone

from tests.traces.sending import conversation, export, send
from toolevals.grading.metrics.clustered import NOTHING_KNOWN, ExampleSums, clustered_interval, summed
from toolevals.traces.models import ToolUse, Trace
from toolevals.traces.production.tool_counts import known_rate
from toolevals.traces.production.tool_figures import ToolFigures, bars, error_marks, tool_figures
from toolevals.traces.reading.filters import TraceFilter
from toolevals.traces.reading.services import traces_settle

TOOLS = "/p/shop/traces/tools/"
GONE = '{"error": "order not found", "code": 404}'


@pytest.fixture
def shown(client, token, viewer, settings) -> Any:
    """Ten calls of one tool: two failed, one did not fit; two versions."""
    settings.TRACES_QUIET_SECONDS = 0
    for number in range(10):
        spans = conversation(
            f"{number + 1:032x}",
            result=GONE if number in (3, 4) else "shipped",
            arguments={"nr": 7} if number == 4 else None,
        )
        start = int(spans[2]["startTimeUnixNano"])
        spans[2]["endTimeUnixNano"] = str(start + (number + 1) * 100_000_000)
        send(client, token, export(*spans, version="1.4.0" if number < 4 else "1.5.0"))
    traces_settle()
    client.force_login(viewer)
    return client


def test_calls_are_counted_by_class_and_percentile(shown, project):
    (figures,) = tool_figures(project, TraceFilter())
    assert (figures.tool, figures.calls, figures.failed, figures.error_rate) == ("get_order", 10, 2, 0.2)
    assert figures.by_class == [("404", 2)]
    assert (figures.checked, figures.misfits, figures.misfit_rate) == (10, 1, 0.1)
    assert figures.percentiles == [pytest.approx(each, rel=0.01) for each in (500, 1000, 1000)]
    assert [(bar.calls, bar.errors, bar.height, bar.failed) for bar in bars([figures])] == [(10, 2, 100, 20)]


def test_error_rates_are_drawn_on_one_scale(shown, project):
    rows = tool_figures(project, TraceFilter(), "version")
    drawn = error_marks(rows)
    assert [mark.figures for mark in drawn.marks] == rows
    for mark in drawn.marks:
        known = mark.figures.errors_known
        assert known.interval is not None
        ends = [share * drawn.end / 100 for share in (mark.left, mark.at, mark.left + mark.width)]
        assert ends == pytest.approx([known.interval.low, known.value, known.interval.high], abs=0.0002)
    assert (20 * drawn.end) % 1 == 0
    assert error_marks(rows[:1]).marks == ()
    assert error_marks([ToolFigures("none", ""), *rows[:1]]).marks == ()


def test_one_day_and_one_tool_draw_no_chart(shown):
    page = shown.get(TOOLS).content.decode()
    assert "A second day draws a chart" in page
    assert '<svg class="days"' not in page
    assert "rate-bars" not in page


def test_rates_have_intervals_that_are_clustered_by_trace(shown, project):
    (figures,) = tool_figures(project, TraceFilter())
    known = figures.errors_known
    assert (known.passed, known.total, known.examples) == (2, 10, 10)
    assert known.interval == clustered_interval(ExampleSums.single(2, 10))
    # The same calls in two traces say less: the half of what failed is one conversation.
    first, second = Trace.objects.order_by("pk")[:2]
    calls = ToolUse.objects.order_by("trace", "number")
    for number, call in enumerate(calls):
        call.trace, call.number = (first, number) if number < 5 else (second, number)
        call.agent_version = call.trace.agent_version
        call.save()
    (figures,) = tool_figures(project, TraceFilter())
    assert figures.errors_known.examples == 2
    assert figures.errors_known.interval == clustered_interval(summed([(5, 2), (5, 0)]))
    assert figures.share.to_row() == (2, 10, 10, 50, 50, 50)


def test_sums_over_traces_are_those_of_the_calls(shown, project):
    """Calls of two tools in traces of unlike length, added up by hand."""
    traces = list(Trace.objects.order_by("pk")[:4])
    plan = ["aab", "b", "aaaa", "bb"]
    calls = iter(ToolUse.objects.order_by("trace", "number"))
    for trace, tools in zip(traces, plan, strict=True):
        for number, tool in enumerate(tools):
            call = next(calls)
            call.trace, call.number, call.tool, call.agent_version = trace, number, tool, trace.agent_version
            call.error_class, call.arguments_fit = ("404" if number == 0 else "empty"), (None if number else False)
            call.save()
    assert not list(calls)
    found = {each.tool: each for each in tool_figures(project, TraceFilter())}
    for tool, figures in found.items():
        counted = [(len(tools), tools.count(tool), tools[0] == tool) for tools in plan]
        own = [each for each in counted if each[1]]
        assert figures.by_trace.errors == summed([(count, int(failed)) for _, count, failed in own])
        assert figures.by_trace.misfits == summed([(1, 1) for *_, failed in own if failed])
        assert figures.share == summed([(whole, count) for whole, count, _ in counted])


def test_of_a_tool_without_traces_in_the_sums_nothing_is_known():
    assert known_rate(1, 4, ExampleSums()).interval == NOTHING_KNOWN


def test_a_table_is_split(shown, project):
    by_version = tool_figures(project, TraceFilter(), "version")
    assert [(each.part, each.calls, each.failed) for each in by_version] == [("1.4.0", 4, 1), ("1.5.0", 6, 1)]
    (day,) = tool_figures(project, TraceFilter(), "day")
    assert (day.part, day.calls) == (str(timezone.localdate()), 10)
    assert [each.calls for each in tool_figures(project, TraceFilter.of({"version": "1.5.0"}))] == [6]
    assert tool_figures(project, TraceFilter.of({"until": "2020-01-01"})) == []


def test_calls_without_a_span_have_no_duration(shown, project):
    ToolUse.objects.update(duration_ms=None, arguments_fit=None)
    (figures,) = tool_figures(project, TraceFilter())
    assert figures.percentiles == [None, None, None]
    assert figures.misfit_rate is None
    assert "–" in shown.get(TOOLS).content.decode()


@pytest.mark.parametrize("split", ["", "version", "agent", "day"])
def test_each_number_opens_its_traces(shown, split):
    page = shown.get(f"{TOOLS}?by={split}").content.decode()
    rows = re.findall(r"<tr><th.*?</tr>", page.partition("<tbody>")[2], re.DOTALL)
    assert rows
    for row in rows:
        links = re.findall(r'<a href="([^"]+)">(.*?)</a>', row)
        calls = int(links[0][1])
        for address, words in links:
            listed = shown.get(address.replace("&amp;", "&")).content.decode().count('class="trace-name"')
            counted = re.search(r'<span class="num">(\d+)', words)
            if "min_call_ms=" in address:
                wanted = counted_calls(address)
            else:
                wanted = int(counted[1]) if counted else calls if words.isdigit() else round(float(words) * calls / 100)
            assert listed == wanted, address


def counted_calls(address: str) -> int:
    """Return how many calls took as long as an address says, among those that it is about."""
    said = TraceFilter.of(dict(parse_qsl(address.replace("&amp;", "&").partition("?")[2])))
    equal = {"tool": said.tool, "agent": said.agent, "agent_version": said.version}
    found = ToolUse.objects.filter(duration_ms__gte=float(said.min_call_ms))
    return found.filter(**{column: value for column, value in equal.items() if value}).count()


@pytest.mark.parametrize(("percentile", "traces"), [("p50", 6), ("p95", 1), ("p99", 1)])
def test_a_percentile_opens_the_calls_that_took_so_long(shown, percentile, traces):
    page = shown.get(TOOLS).content.decode()
    addresses = re.findall(r'<a href="([^"]+min_call_ms=[^"]+)">', page)
    address = dict(zip(("p50", "p95", "p99"), addresses, strict=True))[percentile]
    assert shown.get(address.replace("&amp;", "&")).content.decode().count('class="trace-name"') == traces


def test_the_file_says_the_same(shown):
    file = b"".join(shown.get("/p/shop/traces/tools.csv?by=version")).decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(file)))
    assert [(row["tool"], row["part"], row["calls"], row["errors_by_class"], row["misfits"]) for row in rows] == [
        ("get_order", "1.4.0", "4", "404:1", "0"),
        ("get_order", "1.5.0", "6", "404:1", "1"),
    ]
    assert [row["traces"] for row in rows] == ["4", "6"]
    assert all(float(row["error_rate_low"]) < float(row["error_rate"]) < float(row["error_rate_high"]) for row in rows)
    assert rows[0]["misfit_rate"] == "0.0"
    assert float(rows[0]["misfit_rate_high"]) > 0


def test_rest_says_the_same(shown):
    rows = shown.get("/api/v1/projects/shop/traces/tools/?by=version").json()
    assert [(row["part"], row["calls"], row["errors_by_class"], row["misfits"]) for row in rows] == [
        ("1.4.0", 4, {"404": 1}, 0),
        ("1.5.0", 6, {"404": 1}, 1),
    ]
    assert [row["traces"] for row in rows] == [4, 6]
    assert all(row["error_interval"]["low"] < row["error_rate"] < row["error_interval"]["high"] for row in rows)
    assert rows[0]["misfit_interval"]["high"] > 0


def test_the_page_asks_few_questions(shown, django_assert_max_num_queries):
    with django_assert_max_num_queries(7):
        shown.get(TOOLS)
