"""A matrix of 300 tools and a case with trials, explored by keyboard in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, StorageState, expect

from tests.browser.conftest import cookies_into
from tests.fixtures.application import LiveApp

pytestmark = [pytest.mark.browser, pytest.mark.servers]

SEED = """
from tests.fixtures.people import PASSWORD
from tests.reports.building import Builder, Case, cases_of
from toolevals.workspace.models import Role
from toolevals.workspace.projects.services import member_set, project_create
from toolevals.workspace.accounts.services import user_create

project = project_create(actor=None, slug="shop", name="Shop support")
user = user_create(actor=None, email="rita@example.org", name="Rita", password=PASSWORD)
member_set(project=project, actor=None, user=user, role=Role.REVIEWER)
build = Builder(project)
names = [f"part_{place // 30}.tool_{place:03}" for place in range(300)]
build.grading(cases_of({(name, names[(place + 1) % 300]): 1 for place, name in enumerate(names)}, bucket="selection"))
build.tried([[Case("a", "b"), Case("a", "a"), Case("a", "b")], [Case("b", "b")] * 3])
orders = [f"orders.history_of_no_{place}" for place in range(8)]
build.grading(cases_of({(name, name): 1 for name in orders}))
"""
WAIT = 20_000


@pytest.fixture(scope="module")
def app(live_app_start: Callable[..., LiveApp]) -> LiveApp:
    """The application with a run of 300 tools, one of three trials, and one of eight tools with longer names."""
    started = live_app_start()
    started.python(SEED)
    return started


@pytest.fixture
def rita(page: Page, signed_in: Callable[[str], StorageState]) -> Iterator[Page]:
    """A reviewer who is signed in; no script of the pages may fail."""
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    expect.set_options(timeout=WAIT)
    cookies_into(page, signed_in("Rita"))
    yield page
    expect.set_options(timeout=5_000)
    assert errors == []


def test_a_heat_map_of_300_tools_names_each_of_them_and_is_whole_at_a_click(rita: Page, app: LiveApp):
    rita.goto(f"{app.url}/p/shop/runs/1/matrix/?show=heat&order=name")
    frame = rita.locator(".heat-frame")
    expect(frame.locator(".heat-side > span")).to_have_count(300)
    expect(frame.get_by_title("part_7.tool_210").first).to_be_attached()
    frame.evaluate("frame => { frame.scrollTop = 1500; frame.scrollLeft = 1500 }")
    side, frame_box = frame.locator(".heat-side > span").nth(150).bounding_box(), frame.bounding_box()
    assert side is not None
    assert frame_box is not None
    assert frame_box["x"] <= side["x"] < frame_box["x"] + 40
    rita.get_by_role("button", name="Whole matrix").click()
    expect(frame.locator(".heat-side > span")).to_have_count(0)
    assert frame.evaluate("frame => frame.scrollHeight - frame.clientHeight") < 2
    assert frame.evaluate("frame => frame.scrollWidth - frame.clientWidth") < 2
    rita.get_by_role("button", name="Whole matrix").click()
    expect(frame.locator(".heat-side > span")).to_have_count(300)


def test_a_table_of_300_tools_draws_what_is_in_sight_and_moves_by_keyboard(rita: Page, app: LiveApp):
    rita.goto(f"{app.url}/p/shop/runs/1/matrix/?show=table&order=name")
    grid = rita.locator("[data-virtual]")
    expect(grid).to_have_attribute("aria-rowcount", "302")
    expect(grid.locator("[role=row]").first).to_be_visible()
    assert grid.locator("*").count() < 1000
    grid.locator("[data-cell][tabindex='0']").focus()
    rita.keyboard.press("ArrowDown")
    expect(grid.locator("[data-cell]:focus")).to_contain_text("expected part_0.tool_001, called part_0.tool_002")
    grid.evaluate("grid => { grid.scrollTop = 5000; grid.scrollLeft = 6000 }")
    expect(grid).to_contain_text("part_7.tool_210")
    rita.keyboard.press("Enter")
    expect(rita.locator("#cell-h")).to_have_text(re.compile(r"part_0\.tool_001\s+called as\s+part_0\.tool_002"))
    expect(rita.locator("[data-case]").first).to_be_focused()


def test_tools_are_found_and_groups_folded_in_both_views(rita: Page, app: LiveApp):
    rita.goto(f"{app.url}/p/shop/runs/1/matrix/?show=table")
    rita.keyboard.press("/")
    rita.keyboard.type("tool_150")
    rita.keyboard.press("Enter")
    expect(rita).to_have_url(re.compile("find=tool_150"))
    expect(rita.locator("table.heat tbody tr")).to_have_count(3)
    rita.goto(f"{app.url}/p/shop/runs/1/matrix/?show=table&bucket=selection")
    rita.keyboard.press("g")
    rita.get_by_role("link", name="Fold all").click()
    expect(rita.locator("table.heat tbody tr")).to_have_count(10)
    expect(rita.locator("table.heat tbody tr").first).to_contain_text("29")
    rita.keyboard.press("t")
    expect(rita.locator("#heat .heatmaplayer image")).to_be_visible()
    rita.get_by_role("link", name="bucket selection").click()
    expect(rita).not_to_have_url(re.compile("bucket"))
    expect(rita).to_have_url(re.compile(r"collapse=%2A"))


def test_classes_are_divided_by_their_arguments_in_both_views_and_a_part_opens_its_cases(rita: Page, app: LiveApp):
    rita.goto(f"{app.url}/p/shop/runs/2/matrix/?show=table")
    whole = rita.locator(".heat-pane h2").inner_text()
    rita.get_by_label("Divide by").select_option("arguments")
    expect(rita).to_have_url(re.compile("split=arguments"))
    expect(rita.locator(".heat-pane h2")).to_have_text(whole)
    part = rita.locator("table.heat thead th[data-column]").first
    expect(part).to_contain_text(re.compile(r" · (right|wrong|unscored)$"))
    cell = rita.locator("table.heat [data-cell]").first
    count = cell.inner_text().split()[0]
    cell.click()
    expect(rita.locator("#cell .lead-num strong")).to_have_text(count)
    expect(rita.locator("#cell-h")).to_contain_text(" · ")
    rita.keyboard.press("t")
    expect(rita.locator("#heat .heatmaplayer image")).to_be_visible()
    expect(rita.locator("#heat .xaxislayer-above").first).to_contain_text(" · right")
    rita.get_by_label("Divide by").select_option("nothing")
    expect(rita).not_to_have_url(re.compile("split=arguments"))


def test_a_narrow_window_names_the_parts_of_divided_rows_and_its_picture_has_the_scale(rita: Page, app: LiveApp):
    rita.set_viewport_size({"width": 360, "height": 800})
    rita.goto(f"{app.url}/p/shop/runs/3/matrix/?show=heat&split=value&split_argument=/id")
    # Cut in their middle: the tools differ at their ends.
    names = [re.compile(rf"^orde…[a-z_]+_{place} · 1$") for place in range(8)]
    expect(rita.locator(".heat-side > span")).to_have_text(names)
    rita.locator("[data-csv] summary").click()
    with rita.expect_download() as download:
        rita.get_by_role("button", name="SVG", exact=True).click()
    picture = download.value.path().read_text()
    assert "recall %" in picture
    assert "…" not in picture


def test_a_case_is_tagged_found_by_its_tag_and_its_trials_walked(rita: Page, app: LiveApp):
    rita.goto(f"{app.url}/p/shop/runs/2/cases/?mode=wrong_tool")
    rita.locator(".case-link").first.click()
    expect(rita.get_by_role("heading", name="Trials side by side")).to_be_visible()
    rita.keyboard.press("]")
    expect(rita.locator(".case-head")).to_contain_text("trial 2")
    rita.keyboard.press("t")
    rita.keyboard.type("two intents")
    rita.keyboard.press("Enter")
    expect(rita.locator("#remarks .chip")).to_contain_text("two intents")
    rita.goto(f"{app.url}/p/shop/runs/2/matrix/?tagged=two+intents&show=table")
    expect(rita.locator(".heat-pane h2")).to_contain_text("1 of 1")
