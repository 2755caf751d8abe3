"""Test what adjudicators do by hand, by keys and pointer.

Earlier gold put in force again, examples kept for a person.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.labelling_shop import SEED
from tests.fixtures.application import LiveApp

pytestmark = [pytest.mark.browser, pytest.mark.servers]

# One example is labelled twice: first a return, then, reopened, no call.
TWO_GOLDS = """
from datetime import timedelta
from toolevals.workspace.clock import database_now
from labeling.models import Dataset, Example
from labeling.imports.services import examples_import
from labeling.label.services import label_submit
from labeling.adjudicate.services import revision_reopen
from labeling.adjudicate.resolution import settle_due
from labeling.label.claims import slot_claim
from tests.labeling_pages.shop import returned, row
from toolevals.grading.reading.examples import read_example
from toolevals.workspace.models import User

dataset = Dataset.objects.get()
people = {name: User.objects.get(name=name) for name in ("Ann", "Ben", "Ada")}
late = database_now() + timedelta(minutes=5)
for said in (returned(), {"kind": "no_call", "why": "greeting"}):
    for name in ("Ann", "Ben"):
        slot = slot_claim(dataset_or_project=dataset, actor=people[name])
        assert slot.revision.example.external_id == "ex-0"
        label_submit(slot=slot, actor=people[name], expectation=said)
    settle_due(late)
    if said["kind"] != "no_call":
        current = Example.objects.get(external_id="ex-0").current
        revision_reopen(revision=current, actor=people["Ada"], reason="Look again.")
"""


@pytest.fixture(scope="module")
def app(live_app_start: Callable[..., LiveApp]) -> LiveApp:
    started = live_app_start()
    started.python(SEED)
    started.python(TWO_GOLDS)
    return started


def in_force(page: Page) -> Locator:
    return page.locator(".events li", has=page.locator(".tag", has_text="current"))


def test_earlier_gold_is_put_in_force_again_from_the_history(app: LiveApp, person: Callable[[str], Page]) -> None:
    page = person("Ada")
    page.goto(f"{app.url}/p/shop/datasets/core/")
    page.get_by_role("link", name="ex-0", exact=True).click()
    expect(in_force(page)).to_have_count(1)
    expect(in_force(page)).to_contain_text("No call")
    earlier = page.locator(".events li", has_text="create_return").filter(has=page.locator("details.restore")).first
    opens = earlier.locator("summary")
    opens.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(earlier.get_by_label("Why?")).to_be_focused()
    # Without a reason nothing is done.
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(earlier.get_by_label("Why?")).to_be_focused()
    page.keyboard.type("It was right at first.")
    page.keyboard.press("Tab")
    expect(earlier.get_by_role("button", name="Restore the gold")).to_be_focused()
    page.keyboard.press("Enter")
    expect(in_force(page)).to_contain_text("It was right at first.")
    expect(in_force(page)).to_have_count(1)
    expect(in_force(page)).to_contain_text("create_return")
    # What was in force is still there, and can come back in turn.
    expect(page.locator(".events li", has_text="No call").locator("details.restore").first).to_be_visible()
    page.goto(f"{app.url}/p/shop/datasets/core/")
    expect(page.locator("tr", has_text="ex-0").locator(".tool")).to_have_text("create_return")


def test_examples_of_a_batch_are_kept_for_a_person_who_gets_them_first(
    app: LiveApp, person: Callable[[str], Page]
) -> None:
    page = person("Ada")
    page.goto(f"{app.url}/p/shop/datasets/core/queue/")
    page.get_by_label("Name", exact=True).fill("By hand")
    page.get_by_role("button", name="Create batch").click()
    expect(page.get_by_role("heading", name="By hand")).to_be_visible()
    keep = page.get_by_role("region", name="Reserve for a person")
    keep.get_by_label("Person").focus()
    page.keyboard.type("Ben")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(keep.get_by_label("Only these ids")).to_be_focused()
    page.keyboard.type("ex-5")
    keep.get_by_role("button", name="Assign").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 example is kept for Ben.")).to_be_visible()
    expect(kept(page)).to_have_text("1")
    batch = page.url.rstrip("/").rpartition("/")[2]
    ben, ann = person("Ben"), person("Ann")
    for other, first in ((ben, "ex-5"), (ann, "ex-1")):
        other.goto(f"{app.url}/p/shop/label/?batch={batch}")
        expect(other.get_by_role("heading", name=f"Example {first}")).to_be_visible()
    # By the pointer, and taken back again.
    page.reload()
    keep.get_by_label("Person").select_option(label="Ann")
    keep.get_by_label("Limit").fill("2")
    keep.get_by_role("button", name="Assign").click()
    expect(page.get_by_text("2 examples are kept for Ann.")).to_be_visible()
    keep.get_by_label("Person").select_option(label="Ann")
    keep.get_by_role("button", name="Remove reservation").click()
    expect(page.get_by_text(re.compile("2 examples are no longer kept for Ann."))).to_be_visible()
    # With an id that is none nothing is kept, and it is named.
    keep.get_by_label("Person").select_option(label="Ann")
    keep.get_by_label("Only these ids").fill("ex-1\n\nno-such-example")
    keep.get_by_role("button", name="Assign").click()
    expect(page.get_by_text("No example of this batch has the id “no-such-example” (line 3).")).to_be_visible()


def kept(page: Page) -> Locator:
    return page.locator(".facts div", has_text="Reserved, not labelled yet").locator("dd")
