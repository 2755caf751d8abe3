"""Changes of tools are marked where they are surely ones, and not sooner."""

from __future__ import annotations

import csv
import html
import io
import re
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from toolevals.traces.intake.models import first_id
from toolevals.traces.models import ToolUse, Trace
from toolevals.traces.production.tool_changes import tool_table
from toolevals.traces.reading.filters import TraceFilter
from toolevals.workspace.clock import database_now


@pytest.fixture
def calls(project) -> Any:
    """Return a function that makes so many traces of one call each, the first of them failed."""

    def make(tool: str, count: int, failed: int, *, version: str = "1", days_ago: int = 0) -> None:
        came_at = database_now() - timedelta(days=days_ago)
        for number in range(count):
            known = uuid4()
            trace = Trace.objects.create(
                pk=UUID(int=first_id(came_at).int + known.int % 2**80),
                project=project,
                trace_id=known,
                received_at=came_at,
                settled=1,
                agent_version=version,
            )
            ToolUse.objects.create(
                trace=trace, project=project, number=0, tool=tool, came_at=came_at, agent_version=version,
                error_class="404" if number < failed else "",
            )  # fmt: skip

    return make


def marked(project, split: str = "version", **said: str) -> dict[Any, Any]:
    wanted = TraceFilter.of(said)
    found = tool_table(project, wanted, split).changes
    return {key: [(each.measure, each.against) for each in changes] for key, changes in found.items()}


def test_a_version_is_held_against_the_one_before(calls, project):
    calls("get_order", 60, 2, days_ago=2)
    calls("get_order", 60, 30, version="2", days_ago=1)
    assert marked(project) == {("get_order", "2"): [("error rate", "version 1")]}


def test_what_may_be_chance_is_not_marked(calls, project):
    calls("get_order", 60, 10, days_ago=2)
    calls("get_order", 60, 15, version="2", days_ago=1)
    assert marked(project) == {}


def test_a_few_traces_say_nothing(calls, project):
    calls("get_order", 19, 0, days_ago=2)
    calls("get_order", 19, 19, version="2", days_ago=1)
    assert marked(project) == {}


def test_a_share_of_calls_is_marked_and_only_where_all_tools_are_shown(calls, project):
    for version, searches, days_ago in (("1", 10, 2), ("2", 45, 1)):
        calls("get_order", 50, 0, version=version, days_ago=days_ago)
        calls("search", searches, 0, version=version, days_ago=days_ago)
    changed = marked(project)
    assert changed[("search", "2")] == [("share of calls", "version 1")]
    assert marked(project, tool="search") == {}


def test_days_are_held_against_as_many_before_and_the_page_says_it(calls, project, client, viewer):
    calls("get_order", 40, 1, days_ago=8)
    calls("get_order", 40, 25, days_ago=1)
    today = timezone.localdate()
    since = str(today - timedelta(days=6))
    against = f"{today - timedelta(days=13)} to {today - timedelta(days=7)}"
    assert marked(project, "", since=since) == {("get_order", ""): [("error rate", against)]}
    assert marked(project, "") == {}
    client.force_login(viewer)
    page = client.get("/p/shop/traces/tools/").content.decode()
    assert f"Error rate was 2.5 % in {against}" in words(page)
    assert behind(client, page, "2.5 %") == 1


def test_page_file_and_rest_say_the_same_changes(calls, project, client, viewer):
    calls("get_order", 60, 2, days_ago=2)
    calls("get_order", 60, 30, version="2", days_ago=1)
    client.force_login(viewer)
    found = client.get("/api/v1/projects/shop/traces/tools/changes/?by=version").json()
    assert [(each["tool"], each["part"], each["measure"], each["against"]) for each in found] == [
        ("get_order", "2", "error rate", "version 1")
    ]
    assert (found[0]["before"], found[0]["after"]) == (2 / 60, 0.5)
    assert 0 < found[0]["p_value"] < 0.05
    rows = changes_as_csv(client, "by=version")
    assert [{**row, **{name: float(row[name]) for name in ("before", "after", "p_value")}} for row in rows] == found
    assert changes_as_csv(client, "by=version") == rows
    page = client.get("/p/shop/traces/tools/?by=version").content.decode()
    assert "Error rate was 3.3 % in version 1" in words(page)
    assert behind(client, page, "3.3 %") == 2
    assert "traces/tools/changes.csv?" in page
    assert changes_as_csv(client, "by=day") == []


def test_days_that_cannot_be_read_are_refused(client, project, viewer):
    client.force_login(viewer)
    assert client.get("/api/v1/projects/shop/traces/tools/changes/?since=soon").status_code == 422
    assert client.get("/p/shop/traces/tools/changes.csv?since=soon").status_code == 400


def words(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", "", page).split())


def behind(client: Any, page: str, number: str) -> int:
    """Return how many traces the address of a number lists."""
    (address,) = re.findall(rf'<a\s+href="([^"]+)">{number}</a>', page)
    listed: str = client.get(address.replace("&amp;", "&")).content.decode()
    return listed.count('class="trace-name"')


def changes_as_csv(client: Any, query: str) -> list[dict[str, str]]:
    answer = client.get(f"/p/shop/traces/tools/changes.csv?{query}")
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))


def test_each_mark_of_the_charts_opens_its_traces(calls, project, viewer, client):
    calls("get_order", 4, 1, days_ago=2)
    calls("refund", 3, 3, version="2")
    client.force_login(viewer)

    def opened(part: str) -> list[int]:
        found = re.findall(r'<a\s+href="(.*?)"', part)
        pages = [client.get(html.unescape(address)).content.decode() for address in found]
        return [page.count('class="trace-name"') for page in pages]

    page = client.get("/p/shop/traces/tools/").content.decode()
    assert opened(page[page.index('<svg class="days"') :].partition("</svg>")[0]) == [4, 3]
    # All calls of a tool, and those with an error.
    assert opened(page[page.index("rate-bars") :].partition("</ul>")[0]) == [4, 1, 3, 3]
    page = client.get("/p/shop/traces/tools/?tool=refund").content.decode()
    assert "A second day draws a chart" in page
