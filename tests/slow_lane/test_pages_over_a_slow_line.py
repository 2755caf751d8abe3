"""Each page of work in a browser whose answers all come late, and a page that watches work and changes by itself."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.fixtures.people import PASSWORD
from tests.slow_lane.conftest import SLUG, SlowApp

pytestmark = [pytest.mark.slow_lane, pytest.mark.browser, pytest.mark.servers]
# Milliseconds: a machine may be busy.
WAIT = 60_000
PAGES = (
    "label",
    "adjudicate",
    "questions",
    "calibration",
    "rate",
    "reread",
    "example",
    "dataset",
    "run",
    "run at work",
    "matrix",
    "cases",
    "import at work",
    "job",
    "jobs",
)


@pytest.fixture(scope="module")
def context(browser: Browser, slow_app: SlowApp) -> Iterator[BrowserContext]:
    """Ann's browser, signed in over the slow line."""
    context = browser.new_context()
    context.set_default_timeout(WAIT)
    context.set_default_navigation_timeout(WAIT)
    page = context.new_page()
    page.goto(f"{slow_app.url}/sign-in/?next=/p/{SLUG}/")
    page.get_by_label("E-mail").fill("ann@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{slow_app.url}/p/{SLUG}/")
    page.close()
    yield context
    context.close()


@pytest.fixture
def slow_page(context: BrowserContext) -> Iterator[Page]:
    """A page of hers, on which no script breaks and nothing that it asks for fails."""
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("response", lambda answer: wrong.append(f"{answer.status} {answer.url}") if answer.status >= 400 else None)
    yield page
    page.close()
    assert wrong == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_work_opens_over_a_slow_line(slow_page: Page, slow_app: SlowApp, name: str):
    answer = slow_page.goto(f"{slow_app.url}{slow_app.seeded['pages'][name]}")
    assert answer is not None
    assert answer.status == 200
    expect(slow_page.get_by_role("heading", level=1)).not_to_be_empty(timeout=WAIT)
    slow_page.wait_for_load_state()


def begun(slow_app: SlowApp) -> str:
    """Begin one more export and return its job; nothing but time holds it."""
    slow_app.release.touch()
    headers = {"Authorization": f"Bearer {slow_app.seeded['token']}"}
    project = f"{slow_app.application.url}/api/v1/projects/{SLUG}/"
    answer = httpx.post(
        f"{project}datasets/desk/exports/", headers=headers, json={"format": "jsonl"}, timeout=60
    ).raise_for_status()
    return str(answer.json()["id"])


def test_a_job_is_watched_paused_and_resumed_over_a_slow_line(slow_page: Page, slow_app: SlowApp):
    job = begun(slow_app)
    slow_page.goto(f"{slow_app.url}/p/{SLUG}/jobs/{job}/")
    shown = slow_page.locator(f"#job-{job}")
    expect(shown.get_by_text("1 of ")).to_be_visible(timeout=WAIT)
    shown.get_by_role("button", name="Pause").click()
    expect(shown.get_by_role("button", name="Resume")).to_be_visible(timeout=WAIT)
    shown.get_by_role("button", name="Resume").click()
    # By itself, without being loaded anew.
    expect(shown.get_by_role("link", name="Open the result")).to_be_visible(timeout=WAIT)
