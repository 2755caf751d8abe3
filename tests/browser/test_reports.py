"""From the matrix to the cell, the case and back, in a real browser on the running application."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, StorageState, expect

from tests.browser.conftest import cookies_into
from tests.browser.contrast import Contrast
from tests.browser.modes import WIDTHS, faults_at
from tests.browser.pictures import expect_pictures
from tests.browser.steady import box_of
from tests.fixtures.application import LiveApp

pytestmark = [pytest.mark.browser, pytest.mark.servers]

SEED = """
import json
from tests.fixtures.people import PASSWORD
from tests.reports.building import Builder, Case, cases_of
from toolevals.workspace.models import Role
from toolevals.workspace.projects.services import member_set, project_create
from toolevals.workspace.accounts.services import user_create

project = project_create(actor=None, slug="shop", name="Shop support")
user = user_create(actor=None, email="rita@example.org", name="Rita", password=PASSWORD)
member_set(project=project, actor=None, user=user, role=Role.REVIEWER)
build = Builder(project)
cells = {("status", "status"): 20, ("status", "history"): 9, ("status", "(none)"): 2, ("history", "history"): 25,
         ("history", "status"): 4, ("refund", "refund"): 18, ("refund", "(unknown tool)"): 3, ("(none)", "(none)"): 12,
         ("(none)", "refund"): 5}
cases = [*cases_of(cells, bucket="selection"), *(Case("refund", "refund", wrong_value=True) for _ in range(4)),
         Case("refund", "refund", status="errored"), Case("refund", "refund", status="unscored")]
first, second = build.grading(cases), build.grading(cases)
type(second.run).objects.filter(pk=second.run_id).update(dataset_version=first.dataset_version)
names = [f"tool_{place:03}" for place in range(300)]
build.grading(cases_of({(name, names[(place + 1) % 300]): 1 for place, name in enumerate(names)}))
case = first.cases.filter(expected="status", actual="history").first()
print(json.dumps(str(case.pk)))
"""
# Plotly sets a few style attributes that the policy refuses, harmlessly.
PLOTLY = "Applying inline style violates"
# Milliseconds: a machine may be busy.
WAIT = 30_000
CELL = re.compile(r"expected=status&actual=history")


@pytest.fixture(scope="module")
def shop(live_app_start: Callable[..., LiveApp]) -> tuple[LiveApp, str]:
    """The application with three graded runs, and the id of a case in the largest confusion."""
    app = live_app_start()
    return app, json.loads(app.python(SEED))


@pytest.fixture(scope="module")
def app(shop: tuple[LiveApp, str]) -> LiveApp:
    """The application alone."""
    return shop[0]


@pytest.fixture
def rita(page: Page, signed_in: Callable[[str], StorageState]) -> Iterator[Page]:
    """A reviewer who is signed in. Whatever the browser reports fails the test, Plotly's own styling excepted."""
    said: list[str] = []
    page.on("console", lambda line: said.append(line.text) if line.type == "error" else None)
    expect.set_options(timeout=WAIT)
    cookies_into(page, signed_in("Rita"))
    yield page
    expect.set_options(timeout=5_000)
    assert [line for line in said if not line.startswith(PLOTLY)] == []


@pytest.fixture
def matrix(rita: Page, shop: tuple[LiveApp, str]) -> Page:
    """The matrix of the first run as it opens on a wide screen."""
    rita.goto(f"{shop[0].url}/p/shop/runs/1/matrix/")
    expect(rita.locator("#heat .heatmaplayer image")).to_be_visible()
    return rita


def centre(page: Page, column: int, row: int, columns: int = 5, rows: int = 4) -> tuple[float, float]:
    """Return where on the page a cell of the heat map is; row 0 is the highest."""
    box = box_of(page.locator("#heat .nsewdrag[data-subplot='xy']"))
    return box["x"] + box["width"] * (column + 0.5) / columns, box["y"] + box["height"] * (row + 0.5) / rows


def title(page: Page) -> str:
    return " ".join(page.locator("#cell-h").inner_text().split())


def test_a_wide_screen_opens_on_the_heat_map_and_reads_the_largest_confusion(matrix: Page):
    expect(matrix.locator("table.heat")).to_be_hidden()
    assert title(matrix) == "status called as history"
    assert "9 of 31 29.0 % (15.5 to 47.5)" in " ".join(matrix.locator("#cell").inner_text().split())


def test_a_click_in_the_heat_map_opens_the_cell_and_back_closes_it(matrix: Page):
    # Columns by error: status, history, refund, (none), (unknown tool). Expected (none), called refund.
    place = centre(matrix, 2, 3)
    matrix.mouse.move(place[0] - 20, place[1])
    matrix.mouse.move(*place, steps=5)
    expect(matrix.locator(".hoverlayer .hovertext")).to_contain_text("called refund")
    matrix.mouse.down()
    matrix.mouse.up()
    expect(matrix.locator("#cell-h")).to_have_text(re.compile(r"\(none\)\s+called as\s+refund"))
    expect(matrix).to_have_url(re.compile("actual=refund"))
    matrix.go_back()
    expect(matrix.locator("#cell-h")).to_have_text(re.compile(r"status\s+called as\s+history"))


# A button that goes down while Plotly still waits to look where the pointer is, and up just after it has.
QUICK_CLICK = """async ([subplot, clientX, clientY]) => {
  const area = document.querySelector(`#heat .nsewdrag[data-subplot='${subplot}']`);
  const say = (kind, target) => target.dispatchEvent(new MouseEvent(kind, { bubbles: true, clientX, clientY }));
  for (const kind of ["mousemove", "mousemove", "mousedown"]) say(kind, area);
  await new Promise((done) => setTimeout(done, 60));
  say("mouseup", document);
}"""


def test_a_quick_click_in_the_heat_map_is_not_lost(matrix: Page):
    matrix.evaluate(QUICK_CLICK, ["xy", *centre(matrix, 2, 3)])
    expect(matrix.locator("#cell-h")).to_have_text(re.compile(r"\(none\)\s+called as\s+refund"))


def test_the_margins_of_the_heat_map_lead_to_the_cases_of_their_row_and_column(matrix: Page):
    address = matrix.url
    expect(matrix.locator("#heat .nsewdrag")).to_have_count(3)
    for subplot, wanted in (("x2y", r"expected=%28none%29"), ("xy2", r"actual=refund")):
        area = box_of(matrix.locator(f"#heat .nsewdrag[data-subplot='{subplot}']"))
        x, y = centre(matrix, 2, 3)
        place = (area["x"] + area["width"] / 2, y) if subplot == "x2y" else (x, area["y"] + area["height"] / 2)
        matrix.mouse.click(*place)
        expect(matrix).to_have_url(re.compile(rf"/cases/\?.*{wanted}"))
        matrix.goto(address)


def test_a_point_of_a_trend_opens_its_run(rita: Page, shop: tuple[LiveApp, str]):
    rita.goto(f"{shop[0].url}/p/shop/experiments/nightly/trends/")
    point = box_of(rita.locator(".trend-chart .points path").first)
    rita.mouse.click(point["x"] + point["width"] / 2, point["y"] + point["height"] / 2)
    expect(rita).to_have_url(re.compile(r"/p/shop/runs/\d+/$"))


def test_the_whole_way_by_keyboard_and_back(matrix: Page):
    matrix.keyboard.press("t")
    expect(matrix.locator("table.heat")).to_be_visible()
    expect(matrix).to_have_url(re.compile("show=table"))
    matrix.keyboard.press("n")
    expect(matrix.locator("#cell-h")).to_have_text(re.compile(r"\(none\)\s+called as\s+refund"))
    matrix.keyboard.press("p")
    expect(matrix.locator("#cell-h")).to_have_text(re.compile(r"status\s+called as\s+history"))
    expect(matrix.locator("table.heat .sel a")).to_be_focused()
    matrix.keyboard.press("Enter")
    expect(matrix.locator("[data-case]").first).to_be_focused()
    matrix.keyboard.press("j")
    expect(matrix.locator("[data-case]").nth(1)).to_be_focused()
    matrix.keyboard.press("Enter")
    expect(matrix.get_by_role("heading", level=1)).to_have_text("Called history where status was expected")
    expect(matrix.locator(".case-bar")).to_contain_text("2 of 9")
    matrix.keyboard.press("j")
    expect(matrix.locator(".case-bar")).to_contain_text("3 of 9")
    matrix.keyboard.press("Escape")
    expect(matrix).to_have_url(CELL)
    expect(matrix.locator("table.heat .sel a")).to_be_focused()


def test_arrows_move_over_the_cells_of_the_table(matrix: Page):
    matrix.keyboard.press("t")
    links = matrix.locator("table.heat [data-cell]")
    assert links.evaluate_all("all => all.filter((one) => one.tabIndex === 0).length") == 1
    links.first.focus()
    for key, place in (("ArrowRight", "0,1"), ("ArrowDown", "1,1"), ("ArrowLeft", "1,0"), ("ArrowUp", "0,0")):
        matrix.keyboard.press(key)
        expect(matrix.locator(f'[data-cell="{place}"]')).to_be_focused()


def test_arrows_and_enter_open_a_cell_of_the_heat_map(matrix: Page):
    matrix.locator("#heat").focus()
    matrix.keyboard.press("ArrowDown")
    matrix.keyboard.press("Enter")
    expect(matrix.locator("#cell-h")).to_have_text(re.compile(r"history\s+called as expected"))


def test_filters_measure_and_diagonal_show_at_once_and_keep_the_cell(matrix: Page):
    matrix.keyboard.press("n")
    expect(matrix).to_have_url(re.compile("actual=refund"))
    matrix.keyboard.press("h")
    expect(matrix).to_have_url(re.compile("diagonal=hide"))
    expect(matrix.locator("#heat .heatmaplayer image")).to_be_visible()
    matrix.keyboard.press("2")
    expect(matrix).to_have_url(re.compile("measure=row"))
    matrix.get_by_label("Bucket").select_option("selection")
    expect(matrix).to_have_url(re.compile("bucket=selection"))
    assert title(matrix) == "(none) called as refund"
    # One entry in the history for the opened cell, none for the filters.
    matrix.go_back()
    expect(matrix).not_to_have_url(re.compile("bucket"))


def test_the_choice_of_view_is_remembered_and_the_address_overrides_it(matrix: Page, shop: tuple[LiveApp, str]):
    matrix.get_by_role("button", name="Table").click()
    matrix.goto(f"{shop[0].url}/p/shop/runs/1/matrix/")
    expect(matrix.locator("table.heat")).to_be_visible()
    matrix.goto(f"{shop[0].url}/p/shop/runs/1/matrix/?show=heat")
    expect(matrix.locator("#heat .heatmaplayer image")).to_be_visible()


def test_pictures_are_saved(matrix: Page):
    expect_pictures(matrix.locator(".heat-pane"), "run-1-matrix")


def test_the_theme_flips_under_the_heat_map(matrix: Page):
    ground = matrix.locator("#heat .bg").first
    before = ground.evaluate("one => getComputedStyle(one).fill")
    matrix.locator("[data-theme-toggle]").click()
    expect(ground).not_to_have_css("fill", before)


def test_three_hundred_tools_are_drawn_and_listed(rita: Page, shop: tuple[LiveApp, str]):
    rita.goto(f"{shop[0].url}/p/shop/runs/3/matrix/")
    expect(rita.locator("#heat .heatmaplayer image")).to_be_visible()
    assert rita.locator("#heat .ytick").count() < 70
    rita.keyboard.press("t")
    rita.locator(".confusions [data-cell]").nth(7).click()
    expect(rita.locator(".confusions tr.is-on")).to_have_count(1)
    expect(rita).to_have_url(re.compile("expected=tool_007"))


def test_a_dispute_is_opened_from_the_case(rita: Page, shop: tuple[LiveApp, str]):
    app, case = shop
    rita.goto(f"{app.url}/p/shop/runs/1/cases/{case}/?expected=status&actual=history")
    rita.keyboard.press("d")
    rita.keyboard.type("History is right: she asks for the last one.")
    rita.get_by_role("button", name="Dispute the gold").click()
    expect(rita.get_by_role("status")).to_contain_text("Dispute opened.")
    expect(rita).to_have_url(CELL)


def test_what_is_unfolded_stands_in_the_address_goes_along_and_is_printed(rita: Page, shop: tuple[LiveApp, str]):
    app, case = shop
    rita.goto(f"{app.url}/p/shop/runs/1/cases/{case}/")
    fold = rita.locator("details[data-fold=others]")
    expect(fold).not_to_have_attribute("open", "")
    fold.locator("> summary").focus()
    rita.keyboard.press("Enter")
    expect(rita).to_have_url(re.compile(r"open=others"))
    rita.keyboard.press("j")
    expect(rita).not_to_have_url(re.compile(case))
    expect(fold).to_have_attribute("open", "")
    fold.locator("> summary").click()
    expect(rita).not_to_have_url(re.compile("open="))
    rita.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(fold).to_have_attribute("open", "")
    rita.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(fold).not_to_have_attribute("open", "")


PAGES = ["runs/1/", "runs/1/matrix/?show=heat", "runs/1/matrix/?show=table", "runs/1/cases/", "CASE"]
PAGES += ["experiments/nightly/trends/", "runs/3/matrix/?show=table"]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("path", PAGES)
def test_pages_are_accessible_and_fit(
    rita: Page, shop: tuple[LiveApp, str], axe: Callable[[Page], list[str]], contrast: Contrast, path: str, width: int
):
    """A page may open otherwise where it is narrow: it is opened in each width, then made dark as it stands."""
    app, case = shop
    rita.set_viewport_size({"width": width, "height": 900})
    rita.goto(f"{app.url}/p/shop/{path.replace('CASE', f'runs/1/cases/{case}/')}")
    expect(rita.get_by_role("heading", level=1)).to_be_visible()
    wrong = faults_at(rita, width, path, axe, contrast)
    assert not wrong, "\n".join(wrong)
