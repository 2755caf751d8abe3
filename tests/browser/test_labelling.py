"""Two reviewers and an adjudicator at work at once, by keyboard, in real browsers on the running application."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.keyboard import choose_tool, heading, submit
from tests.fixtures.application import LiveApp

pytestmark = [pytest.mark.browser, pytest.mark.servers]

EXAMPLES = 6
SEED = """
import json
from labeling.services import dataset_create, examples_import
from tests.fixtures.people import PASSWORD
from tests.labeling_pages.shop import TOOLS, row
from toolevals.grading.examples import read_example
from toolevals.registry.services import registry_create, registry_publish
from toolevals.workspace.models import Role
from toolevals.workspace.services import member_set, project_create, user_create

project = project_create(actor=None, slug="shop", name="Shop support")
for name, role in (("Ann", Role.REVIEWER), ("Ben", Role.REVIEWER), ("Ada", Role.ADJUDICATOR)):
    user = user_create(actor=None, email=f"{name.lower()}@example.org", name=name, password=PASSWORD)
    member_set(project=project, actor=None, user=user, role=role)
registry = registry_create(project=project, actor=None, slug="tools", name="Tools")
tools = registry_publish(registry=registry, actor=None, document=TOOLS)
dataset = dataset_create(
    project=project, actor=None, slug="core", name="Core", guideline="# Dates", default_tools=tools
)
examples_import(dataset=dataset, actor=None, rows=[read_example(row(number)) for number in range(6)])
"""
GOLD = """
import json
from labeling.models import Revision
from labeling.services import settle_due
from django.utils import timezone
from datetime import timedelta
settle_due(timezone.now() + timedelta(minutes=5))
rows = Revision.objects.select_related("gold", "example").order_by("id")
print(json.dumps({r.example.external_id: r.gold and [r.gold.source, r.gold.expectation] for r in rows}))
"""
LABELS = """
import json
from labeling.models import Label
print(json.dumps(sorted([l.revision.example.external_id, l.reviewer.name] for l in Label.objects.in_force())))
"""


@pytest.fixture(scope="module")
def app(live_app_start: Callable[..., LiveApp]) -> LiveApp:
    started = live_app_start()
    started.python(SEED)
    return started


def label_return(page: Page, refund: str) -> None:
    """Label a return by keyboard: the order from the conversation, a SKU, the refund by space or arrow."""
    choose_tool(page, "return")
    fill_return(page, refund)


def fill_return(page: Page, refund: str) -> None:
    page.keyboard.press("Escape")
    page.keyboard.press("v")
    page.keyboard.press("a")
    expect(page.locator("[name='c1.v/order_id']")).to_have_value(re.compile(r"A-\d+"))
    page.keyboard.press("Enter")
    expect(page.locator("input[id][name='c1.v/skus']")).to_be_focused()
    page.keyboard.type("LIN")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    if refund == "store credit":
        page.keyboard.press("ArrowRight")
    page.keyboard.press("r")
    page.keyboard.type(f"She wants {refund}.")


def say_none(page: Page) -> None:
    page.keyboard.press("0")
    expect(page.locator("#panel input[name=why]").first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("clarification")).to_be_checked()


def test_three_people_at_once(person: Callable[[str], Page], app: LiveApp, axe: Callable[..., list[str]]):
    ann, ben = person("Ann"), person("Ben")
    for page in (ann, ben):
        page.goto(f"{app.url}/p/shop/label/")
    # In turns, so that both hold an example at any moment.
    for number in range(EXAMPLES):
        label_return(ann, "original payment")
        if number == 1:
            say_none(ben)
        else:
            label_return(ben, "store credit" if number == 2 else "original payment")
        if number == 0:
            assert axe(ann) == []
        submit(ann)
        submit(ben)
    assert heading(ann) == heading(ben) == "Nothing to label"
    labels = json.loads(app.python(LABELS))
    assert labels == [[f"ex-{number}", name] for number in range(EXAMPLES) for name in ("Ann", "Ben")]

    ada = person("Ada")
    ada.goto(f"{app.url}/p/shop/adjudicate/")
    assert axe(ada) == []
    for _ in range(2):
        before = heading(ada)
        left = ada.locator(".side").first.inner_text()
        ada.keyboard.press("ArrowLeft" if "original payment" in left else "ArrowRight")
        expect(ada.locator("[data-tally]")).to_have_text("1 of 1 decided")
        ada.keyboard.press("r")
        ada.keyboard.type("The customer said so.")
        ada.keyboard.press("Control+Enter")
        expect(ada.get_by_role("heading", level=1)).not_to_have_text(before)
    assert heading(ada) == "Nothing to adjudicate"

    gold = json.loads(app.python(GOLD))
    assert [gold[f"ex-{number}"][0] for number in range(EXAMPLES)] == ["agreed", "adjudicated", "adjudicated"] + [
        "agreed"
    ] * 3
    calls = [gold[f"ex-{number}"][1]["alternatives"][0]["ordered"][0] for number in range(EXAMPLES)]
    assert {call["arguments"]["refund_to"]["exact"] for call in calls} == {"original payment"}


@pytest.fixture
def alone(person: Callable[[str], Page], app: LiveApp) -> Page:
    """A reviewer in front of the first of two new examples."""
    app.python(SEED_ONE)
    page = person("Ann")
    page.goto(f"{app.url}/p/shop/label/")
    expect(page.locator(".tool-row").first).to_be_visible()
    return page


SEED_ONE = """
from labeling.models import Dataset, LabelSlot
from labeling.services import examples_import
from tests.labeling_pages.shop import row
from toolevals.grading.examples import read_example
dataset = Dataset.objects.get(slug="core")
LabelSlot.objects.exclude(state="submitted").update(state="closed")
start = 100 + dataset.examples.count()
examples_import(dataset=dataset, actor=None, rows=[read_example(row(start + number)) for number in range(2)])
"""


def test_a_reload_keeps_the_draft(alone: Page):
    label_return(alone, "store credit")
    alone.reload()
    expect(alone.locator("#rationale")).to_have_value("She wants store credit.")
    expect(alone.get_by_label("store credit")).to_be_checked()
    expect(alone.locator(".chip")).to_have_text(re.compile("LIN"))


def test_a_lost_connection_keeps_draft_and_label(alone: Page):
    choose_tool(alone, "return")
    expect(alone.locator("[data-saved]")).to_contain_text("saved")
    alone.context.set_offline(True)
    fill_return(alone, "original payment")
    expect(alone.locator("[data-saved]")).to_have_text("Offline, kept in this browser")
    before = heading(alone)
    alone.keyboard.press("Control+Enter")
    expect(alone.locator("[data-saved]")).to_have_text("Offline, 1 label waits")
    alone.context.set_offline(False)
    expect(alone.get_by_role("heading", level=1)).not_to_have_text(before, timeout=30_000)
    expect(alone.locator("[data-toast]")).to_contain_text("Submitted")


def test_skip_and_undo_without_a_connection_say_so_and_change_nothing(alone: Page):
    before = heading(alone)
    alone.keyboard.press("s")
    alone.keyboard.press("Space")
    alone.context.set_offline(True)
    alone.get_by_role("button", name="Skip and next").press("Enter")
    dialog = alone.locator("dialog#skip")
    expect(dialog.get_by_role("alert")).to_contain_text("Not skipped: the server cannot be reached.")
    expect(dialog.get_by_label("Unclear what is wanted")).to_be_checked()
    assert heading(alone) == before
    alone.context.set_offline(False)
    dialog.get_by_role("button", name="Skip and next").press("Enter")
    expect(alone.get_by_role("heading", level=1)).not_to_have_text(before)

    after = heading(alone)
    alone.context.set_offline(True)
    alone.keyboard.press("u")
    expect(alone.locator("[data-toast]").get_by_role("alert")).to_contain_text("Not taken back")
    assert heading(alone) == after
    alone.context.set_offline(False)
    alone.keyboard.press("u")
    expect(alone.get_by_role("heading", level=1)).to_have_text(before)


def test_a_copy_that_the_server_never_got_is_put_back(alone: Page):
    choose_tool(alone, "return")
    expect(alone.locator("[data-saved]")).to_contain_text("saved")
    alone.route("**/draft/", lambda route: route.abort())
    fill_return(alone, "original payment")
    expect(alone.locator("[data-saved]")).to_have_text("Offline, kept in this browser")
    alone.unroute("**/draft/")
    alone.reload()
    expect(alone.locator("#rationale")).to_have_value("She wants original payment.")
    expect(alone.get_by_label("original payment")).to_be_checked()


def test_undo_brings_the_label_back(alone: Page):
    before = heading(alone)
    label_return(alone, "original payment")
    submit(alone)
    alone.keyboard.press("u")
    expect(alone.get_by_role("heading", level=1)).to_have_text(before)
    expect(alone.locator("#rationale")).to_have_value("She wants original payment.")


def test_problems_stand_beside_their_fields(alone: Page):
    choose_tool(alone, "return")
    alone.keyboard.press("Control+Enter")
    expect(alone.locator("[data-remaining]")).to_have_text("3 fields to finish")
    expect(alone.locator("[name='c1.v/order_id']")).to_be_focused()
    expect(alone.locator("[data-error='c1/order_id']")).to_contain_text("Needs a value")
    alone.keyboard.type("A-1")
    alone.keyboard.press("Tab")
    expect(alone.locator("[data-error='c1/order_id']")).to_be_hidden()
    expect(alone.locator("[data-remaining]")).to_have_text("2 fields to finish")


def test_json_and_back_by_keyboard(alone: Page):
    label_return(alone, "store credit")
    alone.keyboard.press("Escape")
    alone.keyboard.press("j")
    expect(alone.locator("#json")).to_be_focused()
    assert "store credit" in alone.locator("#json").input_value()
    alone.keyboard.press("Escape")
    alone.keyboard.press("j")
    expect(alone.get_by_label("store credit")).to_be_checked()


EXPECTED = """
import json
from labeling.models import Label
print(json.dumps(Label.objects.order_by("-id")[0].expectation))
"""


def test_several_calls_by_keyboard(alone: Page, app: LiveApp, axe: Callable[..., list[str]]):
    """Two calls in order, the second in a group, and one that must not be."""
    choose_tool(alone, "state of one")
    alone.keyboard.type("A-1")
    add_call(alone, "+", "return", "A-2")
    alone.keyboard.press("Tab")
    alone.keyboard.press("Tab")
    alone.keyboard.type("LIN")
    alone.keyboard.press("Enter")
    alone.keyboard.press("Tab")
    alone.keyboard.press("Tab")
    alone.keyboard.press("Space")
    add_call(alone, "i", "state of one", "A-3")
    add_call(alone, "d", "return", "")
    expect(alone.locator(".outline-call")).to_have_count(4)
    assert axe(alone) == []
    alone.keyboard.press("Escape")
    alone.keyboard.press("h")
    expect(alone.locator(".outline-call.is-open")).to_contain_text("A-3")
    expect(alone.locator("#panel [data-value]").first).to_be_focused()
    alone.keyboard.press("Escape")
    alone.keyboard.press("Shift+ArrowUp")
    expect(alone.locator(".outline-call").nth(1)).to_contain_text("A-3")
    submit(alone)
    (route,) = json.loads(app.python(EXPECTED))["alternatives"]
    first, group = route["ordered"]
    assert first["arguments"] == {"order_id": {"exact": "A-1"}}
    assert [call["arguments"]["order_id"] for call in group["any_order"]] == [{"exact": "A-3"}, {"exact": "A-2"}]
    assert route["disallowed"] == [{"tool": "create_return"}]


def add_call(page: Page, key: str, words: str, order: str) -> None:
    page.keyboard.press("Escape")
    page.keyboard.press(key)
    expect(page.locator("#find")).to_be_focused()
    page.keyboard.type(words)
    page.keyboard.press("Enter")
    expect(page.locator("#panel [data-value]").first).to_be_focused()
    page.keyboard.type(order)


def test_keys_wait_for_a_pane_that_is_on_its_way(alone: Page):
    """A draft that is saved meanwhile fetches no pane again, and a key for the old pane acts on the new one."""
    choose_tool(alone, "return")
    alone.keyboard.type("A-1")
    alone.keyboard.press("Escape")
    on_their_way: list[Route] = []

    def hold(route: Route) -> None:
        on_their_way.append(route)

    alone.route("**/panel/**", hold)
    with alone.expect_response("**/draft/**"):
        alone.keyboard.press("/")
        alone.keyboard.type("state of one")
        alone.keyboard.press("Enter")
    alone.keyboard.press("Escape")
    alone.keyboard.press("d")
    for each in on_their_way:
        each.continue_()
    alone.unroute("**/panel/**")
    expect(alone.locator("#find")).to_be_focused()
    expect(alone.locator(".outline-call")).to_have_count(2)


def test_the_sheet_lists_the_keys_and_switches_them_off(alone: Page):
    alone.keyboard.press("?")
    expect(alone.locator("dialog#keys")).to_be_visible()
    alone.locator("[data-single-keys]").uncheck()
    alone.keyboard.press("Escape")
    expect(alone.locator("dialog#keys")).to_be_hidden()
    alone.keyboard.press("g")
    expect(alone.locator("#guide")).to_be_hidden()
    alone.get_by_role("link", name="Guidelines").click()
    expect(alone.locator("#guide")).to_be_visible()
    assert alone.url.endswith("?guide=1")


PAGES = (
    "label/",
    "adjudicate/?list",
    "datasets/",
    "datasets/core/",
    "datasets/core/settings/",
    "datasets/core/import/",
    "datasets/core/versions/",
    "registries/",
    "registries/tools/",
    "registries/tools/1/",
)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
def test_pages_are_accessible(
    person: Callable[[str], Page], app: LiveApp, axe: Callable[..., list[str]], width: int, theme: str
):
    app.python(SEED_ONE)
    ada = person("Ada")
    ada.set_viewport_size({"width": width, "height": 800})
    ada.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    for path in PAGES:
        ada.goto(f"{app.url}/p/shop/{path}")
        expect(ada.get_by_role("heading", level=1)).to_be_visible()
        if path == "label/":
            choose_tool(ada, "return")
        assert axe(ada) == [], path
        sideways = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert ada.evaluate(sideways) == 0, path
