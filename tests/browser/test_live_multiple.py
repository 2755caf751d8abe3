"""The public benchmark's hundreds of tools, explored by keyboard: matrix, cell, case, dispute and back."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import WAIT
from tests.browser.steady import steady
from tests.fixtures.application import LiveApp
from tests.fixtures.people import PASSWORD
from tests.grading.benchmark import needs_benchmark

pytestmark = [pytest.mark.browser, pytest.mark.servers, needs_benchmark]

# Imported as the benchmark is published, and answered by the baseline.
SEED = """
import io, json
from labeling.datasets.services import dataset_create
from labeling.imports.services import import_start
from labeling.versions.services import version_freeze
from tests.browser.sample_pages import jobs_finish
from tests.fixtures.people import PASSWORD
from tests.labeling.test_bfcl_import import rows
from toolevals.runs.models import Connector
from toolevals.runs.agents.services import experiment_ensure, agent_ensure
from toolevals.runs.runs.services import RunParts, run_start
from toolevals.workspace.models import Role
from toolevals.workspace.projects.services import member_set, project_create
from toolevals.workspace.uploads.services import upload_store
from toolevals.workspace.accounts.services import user_create

project = project_create(actor=None, slug="shop", name="Benchmark")
user = user_create(actor=None, email="rita@example.org", name="Rita", password=PASSWORD)
member_set(project=project, actor=None, user=user, role=Role.REVIEWER)
dataset = dataset_create(project=project, actor=None, slug="live", name="Live multiple")
text = "".join(json.dumps(row) + "\\n" for row in rows("live_multiple"))
upload = upload_store(project=project, actor=None, file=io.BytesIO(text.encode()), name="live.jsonl")
import_start(dataset=dataset, actor=None, upload=upload, source="bfcl")
jobs_finish(project)
version = version_freeze(dataset=dataset, actor=None, misfits_reason="The gold is as it was published.")
agent = agent_ensure(project=project, actor=None, name="baseline", connector=Connector.BASELINE)
experiment = experiment_ensure(project=project, actor=None, slug="agents")
run_start(RunParts(project=project, actor=None, experiment=experiment, agent=agent, dataset_version=version))
jobs_finish(project)
"""
FOCUSED = "document.activeElement.dataset.case || document.activeElement.dataset.cell || document.activeElement.name"


@pytest.fixture(scope="module")
def app(live_app_start: Callable[..., LiveApp]) -> LiveApp:
    """The application with a run over every example of live_multiple."""
    started = live_app_start(TOOLEVALS_BENCHMARK_DATA=os.environ["TOOLEVALS_BENCHMARK_DATA"])
    started.python(SEED)
    return started


@pytest.fixture
def matrix(page: Page, app: LiveApp) -> Iterator[Page]:
    """The run's matrix as a table, before a reviewer who is signed in."""
    expect.set_options(timeout=WAIT)
    page.goto(f"{app.url}/sign-in/?next=/p/shop/runs/1/matrix/%3Fshow%3Dtable")
    page.get_by_label("E-mail").fill("rita@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("[data-virtual] [role=row]").first).to_be_visible()
    yield page
    expect.set_options(timeout=5_000)


def sight(page: Page) -> list[float]:
    """Return how far the page is scrolled, and its grid down and sideways."""
    read = (
        "(() => { const grid = document.querySelector('[data-virtual]');"
        " return [scrollY, grid.scrollTop, grid.scrollLeft] })()"
    )
    return steady(page, lambda: page.evaluate(read))


def test_hundreds_of_tools_are_walked_to_a_dispute_and_back(matrix: Page):
    assert int(matrix.locator("[data-virtual]").get_attribute("aria-rowcount") or "") > 60
    expect(matrix.locator(".heat-pane h2")).to_contain_text("of 1,053")
    matrix.locator("select[name=order]").focus()
    matrix.locator("select[name=order]").select_option("name")
    expect(matrix).to_have_url(re.compile("order=name"))
    expect(matrix.locator("select[name=order]")).to_be_focused()
    matrix.keyboard.press("Escape")

    matrix.keyboard.press("n")
    expect(matrix.locator("#cell .xs.num")).to_contain_text("2 of")
    cell = matrix.url
    expect(matrix.locator("[data-virtual] .sel a")).to_be_focused()
    matrix.keyboard.press("Enter")
    expect(matrix.locator("[data-case]").first).to_be_focused()
    matrix.keyboard.press("j")
    expect(matrix.locator("[data-case]").nth(1)).to_be_focused()
    sight(matrix)
    # Somewhere else on both: the place is what counts, not where the cell is.
    matrix.locator("[data-virtual]").evaluate("grid => { grid.scrollTop += 50; grid.scrollLeft += 30 }")
    matrix.evaluate("scrollTo({ top: 60, behavior: 'instant' })")
    place, line = sight(matrix), matrix.evaluate(FOCUSED)
    matrix.keyboard.press("Enter")
    expect(matrix.locator(".case-bar")).to_contain_text("2 of")
    expect(matrix.get_by_role("heading", level=1)).to_contain_text("was expected")

    matrix.go_back()
    expect(matrix).to_have_url(cell)
    expect(matrix.locator(f'[data-case="{line}"]')).to_be_focused()
    assert sight(matrix) == place
    matrix.keyboard.press("Enter")
    expect(matrix.locator(".case-bar")).to_contain_text("2 of")
    matrix.keyboard.press("Escape")
    expect(matrix).to_have_url(cell)
    expect(matrix.locator("[data-virtual] .sel a")).to_be_focused()
    matrix.reload()
    expect(matrix.locator("[data-virtual] .sel a")).to_be_focused()

    matrix.keyboard.press("Enter")
    expect(matrix.locator("[data-case]").first).to_be_focused()
    matrix.keyboard.press("Enter")
    expect(matrix.locator(".case-bar")).to_contain_text("1 of")
    matrix.keyboard.press("d")
    matrix.keyboard.type("The other tool answers this as well.")
    matrix.keyboard.press("Tab")
    matrix.keyboard.press("Enter")
    expect(matrix.get_by_role("status")).to_contain_text("Dispute opened.")
    matrix.keyboard.press("Escape")
    expect(matrix).to_have_url(cell)
    expect(matrix.locator("[data-virtual] .sel a")).to_be_focused()


def test_the_heat_map_is_walked_in_the_same_way(matrix: Page):
    matrix.keyboard.press("t")
    expect(matrix.locator("#heat .heatmaplayer image")).to_be_visible()
    matrix.keyboard.press("n")
    expect(matrix.locator("#cell .xs.num")).to_contain_text("2 of")
    expect(matrix.locator("#heat")).to_be_focused()
    cell = matrix.url
    matrix.keyboard.press("Enter")
    expect(matrix.locator("[data-case]").first).to_be_focused()
    line = matrix.evaluate(FOCUSED)
    matrix.keyboard.press("Enter")
    expect(matrix.locator(".case-bar")).to_contain_text("1 of")
    matrix.go_back()
    expect(matrix).to_have_url(cell)
    expect(matrix.locator("#heat .heatmaplayer image")).to_be_visible()
    expect(matrix.locator(f'[data-case="{line}"]')).to_be_focused()


def test_the_list_of_cases_keeps_its_place(matrix: Page, app: LiveApp):
    matrix.goto(f"{app.url}/p/shop/runs/1/cases/?mode=wrong_tool")
    lines = matrix.locator(".case-link")
    for _ in range(3):
        matrix.keyboard.press("j")
    expect(lines.nth(2)).to_be_focused()
    matrix.keyboard.press("Enter")
    expect(matrix.locator(".case-bar")).to_contain_text("3 of")
    matrix.go_back()
    expect(lines.nth(2)).to_be_focused()
    matrix.keyboard.press("Enter")
    expect(matrix.locator(".case-bar")).to_contain_text("3 of")
    matrix.keyboard.press("j")
    expect(matrix.locator(".case-bar")).to_contain_text("4 of")
    matrix.keyboard.press("Escape")
    expect(lines.nth(3)).to_be_focused()
