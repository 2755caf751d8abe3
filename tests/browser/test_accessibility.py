"""Every page, light and dark, wide and narrow: no violation of WCAG AA, and nothing scrolls sideways.

The pages are shared out over parts, which run in different processes: tests/fixtures/order.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.access.addresses import addresses
from tests.browser.contrast import Contrast
from tests.browser.modes import faults
from tests.fixtures.application import LiveApp

pytestmark = [pytest.mark.browser, pytest.mark.servers]

PAGES = "from tests.browser.sample_pages import pages_print; pages_print()"
FEWEST = 40
# Few: each process that takes a part makes the sample's pages first.
PARTS = 2


@dataclass(frozen=True)
class Sample:
    """The sample project, its pages by name, and the session of its owner."""

    app: LiveApp
    pages: dict[str, str]
    session: str

    def pages_of(self, part: int) -> dict[str, str]:
        """Return the pages of a part, by their places in the table of addresses: it is the same in every process."""
        mine = {address.name for address in addresses()[part::PARTS]}
        return {name: path for name, path in self.pages.items() if name in mine}


@pytest.fixture(scope="module")
def sample(live_app: LiveApp, browser: Browser) -> Sample:
    """The sample project with something on every page, made once in a process."""
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


@pytest.mark.parametrize("part", range(PARTS))
def test_every_page_is_accessible_in_every_mode(owners: Page, sample: Sample, axe: Callable[..., list[str]], part: int):
    """Each page is opened once, then made narrow and dark as it stands."""
    pages = sample.pages_of(part)
    assert len(pages) > FEWEST // PARTS
    wrong: list[str] = []
    contrast = Contrast()
    for name, path in pages.items():
        owners.goto(sample.app.url + path)
        wrong += faults(owners, name, axe, contrast)
    assert not wrong, "\n".join(wrong)


def test_the_way_in_of_an_invited_person_is_accessible(owners: Page, sample: Sample, axe: Callable[..., list[str]]):
    wrong = faults_of_an_invitation(owners, sample.app, axe)
    assert not wrong, "\n".join(wrong)


def faults_of_an_invitation(page: Page, app: LiveApp, axe: Callable[..., list[str]]) -> list[str]:
    """Invite a person, go the person's way in, and return what is wrong with the pages on it."""
    page.goto(f"{app.url}/p/shop-support/members/")
    contrast = Contrast()
    page.get_by_label("E-mail address").fill("nora.with.a.long.address@department.example.org")
    page.get_by_role("button", name="Make the link").click()
    link = page.locator("[data-copy]").get_attribute("data-copy") or ""
    wrong = faults(page, "an invitation made", axe, contrast)
    page.context.clear_cookies()
    page.goto(link)
    wrong += faults(page, "an invitation's link", axe, contrast)
    page.get_by_label("Your name").fill("Nora Newcome")
    page.get_by_label("Password", exact=True).fill("correct horse battery")
    page.get_by_label("The same password again").fill("correct horse battery")
    page.get_by_role("button", name="Make the account").click()
    expect(page.get_by_text("Your account is made")).to_be_visible()
    return wrong + faults(page, "signing in after an invitation", axe, contrast)
