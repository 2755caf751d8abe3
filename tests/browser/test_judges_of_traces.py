"""An owner has a judge asked about traces, reads its verdicts and its days, sees what it left out, and pauses it.

With JUDGES_PICTURES it saves each page there at both widths, light and dark.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.agents.chat_server import ChatServer, chat_server
from tests.agents.judges import judging
from tests.fixtures.application import SHARED, LiveApp

pytestmark = [pytest.mark.browser, pytest.mark.servers]

SEED = """
from tests.agents.judges import MODEL
from tests.fixtures.people import PASSWORD
from toolevals.runs.judging.services import JudgeRequest, judge_add, rubric_use
from toolevals.workspace.projects.services import project_create
from toolevals.workspace.accounts.services import user_create
owner = user_create(actor=None, email="otto@example.org", name="Otto", password=PASSWORD)
project = project_create(actor=owner, slug="shop", name="Shop")
rubric = rubric_use(project=project, actor=owner, name="task_completion")
prices = {{"input": 100.0, "output": 100.0}}
asked = JudgeRequest("Second look", MODEL, {{"base_url": "{url}", "timeout": 30}}, prices=prices)
judge_add(project=project, actor=owner, rubric=rubric, request=asked)
rubric = rubric_use(project=project, actor=owner, name="function_calling")
asked = JudgeRequest("Each call", MODEL, {{"base_url": "{url}", "timeout": 30}}, prices=prices)
judge_add(project=project, actor=owner, rubric=rubric, request=asked)
"""
SEND = """
from tests.traces.sending import conversation, export
from toolevals.traces.intake.services import spans_store
from toolevals.traces.intake.sorting import sorted_spans
from toolevals.workspace.models import Project
for number in {numbers}:
    spans = conversation(f"{{number:032x}}", asked=f"Where is my order {{number}}?")
    spans_store(project=Project.objects.get(), traces=sorted_spans(export(*spans)).traces)
"""
STATE = """
import json
from toolevals.traces.models import Trace, TraceQuestion
states = TraceQuestion.objects.order_by("trace__trace_id").values_list("state", flat=True)
print(json.dumps([list(states), Trace.objects.filter(settled__gt=0, due_at=None).count()]))
"""
OF_SPANS = """
from toolevals.traces.models import SpanVerdict
print(SpanVerdict.objects.filter(rule="judge:function_calling").count())
"""
# Milliseconds for the worker to sum up and to judge.
WORK = 120_000


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    """A judge that finds claims unsupported in what it is told of order 8."""
    with chat_server(judging(lambda given: {"score": 0 if "order 8" in str(given["conversation"]) else 1})) as found:
        yield found


@pytest.fixture(scope="module")
def app(live_app_start: Callable[..., LiveApp], server: ChatServer) -> LiveApp:
    found = live_app_start(TRACES_QUIET_SECONDS="0", **SHARED)
    found.python(SEED.format(url=server.url))
    return found


def test_an_owner_has_a_judge_asked_and_reads_what_it_says(app: LiveApp, person: Callable[[str], Page]) -> None:
    page = person("Otto")
    page.goto(f"{app.url}/p/shop/traces/judges/")
    page.get_by_label("Judge", exact=True).select_option(label="Second look")
    page.get_by_label("Share of traces").fill("100")
    page.get_by_label("Questions a day").fill("2")
    page.get_by_role("button", name="Ask the judge").click()
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="Second look"))
    expect(row.get_by_text("of 2")).to_be_visible()
    expect(row.get_by_role("cell").nth(2)).to_have_text("0 of 2")

    for number in (7, 8, 9):
        app.python(SEND.format(numbers=[number]))
        _until(app, page, ["judged", "judged", "not_judged"][: number - 6])
    page.reload()
    expect(row.get_by_role("cell").nth(2)).to_have_text("2 of 2")
    _pictures(page, "judges")

    # What it was not asked about.
    row.get_by_role("link", name="1", exact=True).click()
    expect(page).to_have_url(re.compile("verdict=not_judged"))
    listed = page.locator(".trace-name")
    expect(listed).to_have_count(1)
    _pictures(page, "list")
    listed.get_by_role("link").first.click()
    rules = page.get_by_role("region", name="Online rules")
    expect(rules.get_by_text("not judged")).to_be_visible()
    expect(rules.get_by_text("The judge’s daily budget is used up.")).to_be_visible()
    _pictures(page, "trace-not-judged")

    # Its verdicts by day, and the trace that it failed.
    page.goto(f"{app.url}/p/shop/traces/rules/")
    trend = page.get_by_role("region", name="Task completion by Second look, table")
    expect(trend.get_by_role("columnheader", name="Not judged")).to_be_visible()
    cells = trend.get_by_role("cell")
    expect(cells.nth(0)).to_contain_text("50.0")
    expect(cells).to_contain_text(["50.0", "1", "1", "0", "0", "1"])
    _pictures(page, "rules")
    cells.nth(2).get_by_role("link").click()
    expect(page).to_have_url(re.compile("verdict=failed"))
    expect(listed).to_have_count(1)
    # The form keeps the filter, and its address holds nothing else.
    before = page.url.partition("?")[2].split("&")
    page.get_by_role("textbox", name="Agent", exact=True).fill("shop")
    page.get_by_role("button", name="Filter traces").click()
    expect(page).to_have_url(re.compile("agent=shop"))
    assert sorted(page.url.partition("?")[2].split("&")) == sorted([*before, "agent=shop"])
    expect(listed).to_have_count(1)
    listed.get_by_role("link").first.click()
    expect(page.get_by_text("Where is my order 8?").first).to_be_visible()
    expect(rules.get_by_text("As the rubric says.")).to_be_visible()
    expect(rules.get_by_text("Second look")).to_be_visible()
    _pictures(page, "trace-judged")

    # Paused: the next trace is no question.
    page.goto(f"{app.url}/p/shop/traces/judges/")
    page.get_by_role("link", name="Second look").click()
    expect(page.get_by_label("Ask it about new traces")).to_be_visible()
    _pictures(page, "judge")
    page.get_by_label("Ask it about new traces").uncheck()
    page.get_by_role("button", name="Save").click()
    expect(row.get_by_role("cell").last).to_have_text("off")
    app.python(SEND.format(numbers=[10]))
    _until(app, page, ["judged", "judged", "not_judged"], settled=4)
    page.reload()
    expect(row.get_by_role("cell").nth(2)).to_have_text("2 of 2")
    expect(row.get_by_role("cell").last).to_have_text("off")


def test_an_owner_has_each_call_of_a_tool_judged_where_it_was_made(app: LiveApp, person: Callable[[str], Page]) -> None:
    page = person("Otto")
    page.goto(f"{app.url}/p/shop/traces/judges/")
    page.get_by_label("Judge", exact=True).select_option(label="Each call")
    page.get_by_label("Ask about", exact=True).select_option(label="Each call of a tool (TOOL)")
    _pictures(page, "bind")
    page.get_by_label("Share of traces").fill("100")
    page.get_by_role("button", name="Ask the judge").click()
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="Each call"))
    expect(row.get_by_text("Each call of a tool (TOOL)")).to_be_visible()
    app.python(SEND.format(numbers=[8 << 8]))
    for _ in range(WORK // 250):
        if app.python(OF_SPANS).strip() == "1":
            break
        page.wait_for_timeout(250)
    page.goto(f"{app.url}/p/shop/traces/?rule=judge:function_calling&verdict=passed")
    page.locator(".trace-name").get_by_role("link").first.click()
    rules = page.get_by_role("region", name="Online rules")
    expect(rules.get_by_text("Function calling, each call of a tool (TOOL).")).to_be_visible()
    _pictures(page, "trace-span-judged")
    timeline = page.get_by_role("region", name="Timeline")
    tool = timeline.get_by_role("row").filter(has=page.get_by_role("rowheader", name="get_order"))
    expect(tool.get_by_title("Function calling, each call of a tool (TOOL) (judge)")).to_be_visible()
    rules.get_by_role("link", name="get_order").click()
    expect(page.get_by_role("heading", name="execute_tool get_order")).to_be_visible()
    page.goto(f"{app.url}/p/shop/traces/rules/")
    _pictures(page, "rules-spans")


def _until(app: LiveApp, page: Page, states: list[str], *, settled: int = 0) -> None:
    """Wait until the worker has asked the judge, or has summed up so many traces."""
    found: list[object] = []
    for _ in range(WORK // 250):
        found = json.loads(app.python(STATE))
        if found == [states, settled or len(states)]:
            return
        page.wait_for_timeout(250)
    pytest.fail(f"The worker came to {found}, and not to {states}.")


def _pictures(page: Page, name: str) -> None:
    """Save the page where pictures are wanted, and see that it is no wider than a phone."""
    page.set_viewport_size({"width": 360, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360, name
    page.set_viewport_size({"width": 1440, "height": 900})
    folder = os.environ.get("JUDGES_PICTURES")
    for mode in ("light", "dark") if folder else ():
        page.evaluate("mode => document.documentElement.dataset.bsTheme = mode", mode)
        for width in (360, 1440):
            page.set_viewport_size({"width": width, "height": 900})
            page.screenshot(
                path=Path(str(folder)) / f"{name}-{width}-{mode}.png", full_page=True, animations="disabled"
            )
