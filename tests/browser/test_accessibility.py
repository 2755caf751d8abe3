"""Every page, light and dark, wide and narrow: no violation of WCAG AA, and nothing scrolls sideways."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.contrast import Contrast
from tests.browser.modes import faults
from tests.fixtures.application import LiveApp

pytestmark = [pytest.mark.browser, pytest.mark.servers]

PAGES = "from tests.browser.sample_pages import pages_print; pages_print()"
FEWEST = 40


@dataclass(frozen=True)
class Sample:
    """The sample project, its pages by name, and the session of its owner."""

    app: LiveApp
    pages: dict[str, str]
    session: str


@pytest.fixture(scope="module")
def sample(live_app: LiveApp, browser: Browser) -> Sample:
    """The sample project with something on every page."""
    found = json.loads(live_app.python(PAGES))
    pages = dict(found)
    assert len(found) == len(pages) > FEWEST
    page = browser.new_page()
    page.goto(f"{live_app.url}/sign-in/")
    login = live_app.login("owner")
    page.get_by_label("E-mail").fill(login["email"])
    page.get_by_label("Password").fill(login["password"])
    page.keyboard.press("Enter")
    expect(page).not_to_have_url(f"{live_app.url}/sign-in/")
    session = next(each["value"] for each in page.context.cookies() if each["name"] == "sessionid")
    page.close()
    return Sample(live_app, pages, session)


@pytest.fixture
def owners(page: Page, sample: Sample) -> Page:
    """A page of the owner."""
    page.context.add_cookies([{"name": "sessionid", "value": sample.session, "url": sample.app.url}])
    return page


def test_every_page_is_accessible_in_every_mode(
    owners: Page, sample: Sample, axe: Callable[[Page], list[str]], contrast: Contrast
):
    """Each page is opened once, then made narrow and dark as it stands."""
    wrong: list[str] = []
    for name, path in sample.pages.items():
        owners.goto(sample.app.url + path)
        wrong += faults(owners, name, axe, contrast)
    assert not wrong, "\n".join(wrong)


def test_every_square_of_the_small_pictures_is_seen(owners: Page, sample: Sample):
    """A look without a fill or a line draws nothing, and a picture is hidden from those who would miss a text."""
    owners.goto(sample.app.url + "/p/shop-support/")
    drawn = owners.eval_on_selector_all(
        ".mini-m path, .coverage-map path",
        """paths => paths.map(path => {
            const { fill, stroke } = getComputedStyle(path);
            return [path.getAttribute("class"), fill !== "none", fill !== "none" || stroke !== "none"];
        })""",
    )
    looks = {look for look, _, _ in drawn}
    assert {"z", "e1", "cv-ok", "cv-none"} <= looks
    assert any(look.endswith(" ring") for look in looks)
    assert [look for look, _, is_seen in drawn if not is_seen] == []
    assert {look for look, is_filled, _ in drawn if not is_filled} == {"cv-none"}


def test_the_way_in_of_an_invited_person_is_accessible(
    owners: Page, sample: Sample, axe: Callable[[Page], list[str]], contrast: Contrast
):
    wrong = faults_of_an_invitation(owners, sample.app, axe, contrast)
    assert not wrong, "\n".join(wrong)


def faults_of_an_invitation(
    page: Page, app: LiveApp, axe: Callable[[Page], list[str]], contrast: Contrast
) -> list[str]:
    """Invite a person, go the person's way in, and return what is wrong with the pages on it."""
    page.goto(f"{app.url}/p/shop-support/members/")
    page.get_by_label("E-mail address").fill("nora.with.a.long.address@department.example.org")
    page.get_by_role("button", name="Create invitation link").click()
    link = page.locator("[data-copy]").get_attribute("data-copy") or ""
    wrong = faults(page, "an invitation made", axe, contrast)
    page.context.clear_cookies()
    page.goto(link)
    wrong += faults(page, "an invitation's link", axe, contrast)
    page.get_by_label("Your name").fill("Nora Newcome")
    page.get_by_label("Password", exact=True).fill("correct horse battery")
    page.get_by_label("Confirm password").fill("correct horse battery")
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_text("Your account is made")).to_be_visible()
    return wrong + faults(page, "signing in after an invitation", axe, contrast)
