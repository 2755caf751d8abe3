"""The label page in a browser: finding words, one's own keys, a question answered, a label sent on the next visit."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import WAIT
from tests.browser.labelling_shop import SEED, SEED_ONE
from tests.fixtures.application import LiveApp
from tests.fixtures.people import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.servers]

LABELS = """
import json
from labeling.models import Label
print(json.dumps([l.revision.example.external_id for l in Label.objects.in_force()]))
"""


@pytest.fixture(scope="module")
def app(live_app_start: Callable[..., LiveApp]) -> LiveApp:
    started = live_app_start()
    started.python(SEED)
    return started


@pytest.fixture
def person(browser: Browser, app: LiveApp) -> Iterator[Callable[[str], BrowserContext]]:
    """Return a function that signs a person in and gives their browser."""
    contexts = []
    errors: list[str] = []

    def start(name: str) -> BrowserContext:
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.set_default_timeout(WAIT)
        context.on("weberror", lambda error: errors.append(str(error.error)))
        contexts.append(context)
        page = context.new_page()
        page.goto(f"{app.url}/sign-in/?next=/p/shop/")
        page.get_by_label("E-mail").fill(f"{name.lower()}@example.org")
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        expect(page).to_have_url(f"{app.url}/p/shop/", timeout=WAIT)
        page.close()
        return context

    expect.set_options(timeout=WAIT)
    yield start
    expect.set_options(timeout=5_000)
    for context in contexts:
        context.close()
    assert errors == []


def at_work(context: BrowserContext, app: LiveApp) -> Page:
    """Return the label page of somebody who is signed in, with an example."""
    page = context.new_page()
    page.goto(f"{app.url}/p/shop/label/")
    expect(page.locator(".tool-row").first).to_be_visible()
    return page


def test_words_are_found_in_what_is_folded(person: Callable[[str], BrowserContext], app: LiveApp):
    app.python(SEED_ONE)
    page = at_work(person("Ann"), app)
    # What is folded stays so, and a conversation longer than its pane opens at the turn that is asked about.
    page.locator("[data-fold=system] > summary").click()
    page.set_viewport_size({"width": 1440, "height": 300})
    page.reload()
    expect(page.locator(".msgs pre", has_text="Today is Tuesday")).to_be_hidden()
    expect(page.locator(".msg-now")).to_be_in_viewport()
    count = page.locator("[data-find-count]")
    page.keyboard.press("c")
    page.keyboard.type("tuesday")
    expect(count).to_have_text("1 of 1")
    expect(page.locator(".msgs pre", has_text="Today is Tuesday")).to_be_visible()
    page.locator("#find-text").fill("order")
    expect(count).to_have_text(re.compile(r"^1 of [2-9]"))
    page.keyboard.press("Enter")
    expect(count).to_have_text(re.compile(r"^2 of "))
    page.keyboard.press("Shift+Enter")
    expect(count).to_have_text(re.compile(r"^1 of "))
    page.locator("#find-text").fill("nowhere to be found")
    expect(count).to_have_text("not found")


def test_a_key_is_moved_and_shown(
    person: Callable[[str], BrowserContext], app: LiveApp, axe: Callable[[Page], list[str]]
):
    app.python(SEED_ONE)
    context = person("Ben")
    page = context.new_page()
    page.goto(f"{app.url}/p/shop/label/keys/")
    assert axe(page) == []
    page.locator("#key-skip").focus()
    page.keyboard.press("f")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#key-skip-e")).to_have_text("“Flag” has F already.")
    page.locator("#key-skip").focus()
    page.keyboard.press("z")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Kept your keys.")).to_be_visible()
    page = at_work(context, app)
    expect(page.locator(".actions [data-open=skip] kbd")).to_have_text("Z")
    page.keyboard.press("s")
    expect(page.locator("dialog#skip")).to_be_hidden()
    page.keyboard.press("z")
    expect(page.locator("dialog#skip")).to_be_visible()


def test_a_question_is_answered(
    person: Callable[[str], BrowserContext], app: LiveApp, axe: Callable[[Page], list[str]]
):
    app.python(SEED_ONE)
    ann = at_work(person("Ann"), app)
    ann.keyboard.press("q")
    expect(ann.locator("[data-question]")).to_be_focused()
    ann.keyboard.type("Does Thursday count?")
    ann.get_by_role("button", name="Ask", exact=True).click()
    expect(ann.locator(".remark")).to_contain_text("Does Thursday count?")
    assert axe(ann) == []
    ada = person("Ada").new_page()
    ada.goto(f"{app.url}/p/shop/questions/")
    ada.locator("table a").first.click()
    expect(ada.locator(".remark")).to_contain_text("A reviewer")
    ada.locator("[data-question]").fill("It does.")
    ada.get_by_role("button", name="Answer", exact=True).click()
    expect(ada.locator(".remark").last).to_contain_text("It does.")
    assert axe(ada) == []
    ann.reload()
    expect(ann.locator("[data-answers]")).to_have_text("1 answer to your questions")
    expect(ann.locator(".remark").last).to_contain_text("It does.")


@pytest.mark.once
def test_a_label_that_waited_is_sent_on_the_next_visit(person: Callable[[str], BrowserContext], app: LiveApp):
    app.python(SEED_ONE)
    context = person("Ann")
    page = at_work(context, app)
    name = page.get_by_role("heading", level=1).locator(".mono").inner_text()
    page.keyboard.press("0")
    expect(page.locator("#panel input[name=why]").first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.locator("[data-saved]")).to_contain_text("saved")
    context.set_offline(True)
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-saved]")).to_contain_text("Server not reached: 1 label waits in this browser")
    # While the page is there: a page that closes may still send, and is no longer held offline.
    assert name not in json.loads(app.python(LABELS))
    page.close()
    context.set_offline(False)
    page = context.new_page()
    page.goto(f"{app.url}/p/shop/label/")
    expect(page.get_by_role("heading", level=1)).not_to_contain_text(name)
    assert name in json.loads(app.python(LABELS))
