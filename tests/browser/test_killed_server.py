"""Three people at work at once, by keyboard, while pages are reloaded and the web server is killed: nothing is lost."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.keyboard import heading, submit
from tests.fixtures.application import LiveApp

pytestmark = [pytest.mark.browser, pytest.mark.servers, pytest.mark.once]

EXAMPLES = 30
# Ben reads every sixth example otherwise; Ada decides one as soon as it is there, while the others go on.
DIFFERS = range(4, EXAMPLES, 6)
RELOAD, KILL = 8, 14
# Milliseconds: what could not be sent is sent again after 2, 5, 10, 30 seconds.
RETRIED = 90_000
SEED = """
from labeling.datasets.services import dataset_create
from labeling.imports.services import examples_import
from tests.fixtures.people import PASSWORD
from tests.labeling_pages.shop import TOOLS, row
from toolevals.grading.reading.examples import read_example
from toolevals.registry.services import registry_create, registry_publish
from toolevals.workspace.models import Role
from toolevals.workspace.projects.services import member_set, project_create
from toolevals.workspace.accounts.services import user_create

project = project_create(actor=None, slug="shop", name="Shop support")
for name, role in (("Ann", Role.REVIEWER), ("Ben", Role.REVIEWER), ("Ada", Role.ADJUDICATOR)):
    user = user_create(actor=None, email=f"{name.lower()}@example.org", name=name, password=PASSWORD)
    member_set(project=project, actor=None, user=user, role=role)
registry = registry_create(project=project, actor=None, slug="tools", name="Tools")
tools = registry_publish(registry=registry, actor=None, document=TOOLS[:1])
dataset = dataset_create(project=project, actor=None, slug="core", name="Core", default_tools=tools)
examples_import(dataset=dataset, actor=None, rows=[read_example(row(number)) for number in range(30)])
"""
# The time to change a label has passed.
COMPARED = """
from datetime import timedelta
from toolevals.workspace.clock import database_now
from labeling.adjudicate.resolution import settle_due

settle_due(database_now() + timedelta(minutes=5))
"""
KEPT = """
import json
from datetime import timedelta
from toolevals.workspace.clock import database_now
from labeling.models import Gold, Label
from labeling.adjudicate.resolution import settle_due

settle_due(database_now() + timedelta(minutes=5))
order = lambda said: said["alternatives"][0]["ordered"][0]["arguments"]["order_id"]["exact"]
labels = [
    [label.revision.example.external_id, label.reviewer.name, order(label.expectation)]
    for label in Label.objects.select_related("revision__example", "reviewer")
]
gold = {gold.revision.example.external_id: [gold.source, order(gold.expectation)] for gold in Gold.objects.in_force()}
print(json.dumps([labels, gold]))
"""


@pytest.fixture(scope="module")
def app(live_app_start: Callable[..., LiveApp]) -> LiveApp:
    started = live_app_start(loaded=False)
    started.python(SEED)
    return started


def order_of(number: int) -> str:
    """Return the order that this example's customer names."""
    return f"A-{20418 + number}"


def said_by(name: str, number: int) -> str:
    return "A-0" if name == "Ben" and number in DIFFERS else order_of(number)


def number_of(page: Page) -> int:
    return int(heading(page).rpartition("-")[2])


def order_field(page: Page) -> Locator:
    return page.locator("[name='c1.v/order_id']")


def saved(page: Page) -> Locator:
    return page.locator("[data-saved]")


def begin(page: Page) -> None:
    """Choose the tool; the focus goes to its argument."""
    page.keyboard.press("1")
    expect(order_field(page)).to_be_focused()


def label(name: str, page: Page) -> None:
    begin(page)
    page.keyboard.type(said_by(name, number_of(page)))


def reload_while_typing(page: Page) -> None:
    """Half an argument is typed when the page is loaded anew."""
    begin(page)
    order = order_of(number_of(page))
    page.keyboard.type(order[:4])
    page.reload()
    expect(order_field(page)).to_have_value(order[:4])
    begin(page)
    page.keyboard.press("End")
    page.keyboard.type(order[4:])
    expect(order_field(page)).to_have_value(order)


def kill_the_server(app: LiveApp, ann: Page, ben: Page) -> None:
    """Ann has typed half and Ben all when the server dies; Ann goes on typing, Ben hands his label in."""
    begin(ann)
    order = order_of(number_of(ann))
    ann.keyboard.type(order[:4])
    expect(saved(ann)).to_contain_text("Draft saved")
    label("Ben", ben)
    before = heading(ben)
    app.application.web_kill()
    ann.keyboard.type(order[4:])
    expect(saved(ann)).to_contain_text("Server not reached: kept in this browser")
    ben.keyboard.press("Control+Enter")
    expect(saved(ben)).to_contain_text("Server not reached: 1 label waits in this browser")
    app.application.web_start()
    ann.reload()
    expect(order_field(ann)).to_have_value(order)
    submit(ann)
    expect(ben.get_by_role("heading", level=1)).not_to_have_text(before, timeout=RETRIED)


def decide(page: Page, app: LiveApp) -> None:
    """Take the customer's order, and say why."""
    app.python(COMPARED)
    page.goto(f"{app.url}/p/shop/adjudicate/")
    before = heading(page)
    left = page.locator(".side").first.inner_text()
    page.keyboard.press("ArrowRight" if "A-0" in left else "ArrowLeft")
    expect(page.locator("[data-tally]")).to_have_text("1 of 1 decided")
    page.keyboard.press("r")
    page.keyboard.type("The customer names it.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", level=1)).not_to_have_text(before)


def test_thirty_examples_and_a_killed_server(person: Callable[[str], Page], app: LiveApp):
    ann, ben, ada = person("Ann"), person("Ben"), person("Ada")
    for page in (ann, ben):
        page.goto(f"{app.url}/p/shop/label/")
    for number in range(EXAMPLES):
        assert number_of(ann) == number_of(ben) == number
        if number == KILL:
            kill_the_server(app, ann, ben)
            continue
        if number == RELOAD:
            reload_while_typing(ann)
        else:
            label("Ann", ann)
        label("Ben", ben)
        # Both at the same moment.
        for page in (ann, ben):
            page.keyboard.press("Control+Enter")
        for page in (ann, ben):
            expect(page.get_by_role("heading", level=1)).not_to_have_text(f"Example ex-{number}")
        if number in DIFFERS:
            decide(ada, app)
    assert heading(ann) == heading(ben) == "Nothing to label"
    assert heading(ada) == "Nothing to adjudicate"

    labels, gold = json.loads(app.python(KEPT))
    said = [[f"ex-{number}", name, said_by(name, number)] for number in range(EXAMPLES) for name in ("Ann", "Ben")]
    assert len(labels) == 2 * EXAMPLES
    assert sorted(labels) == sorted(said)
    assert {name: order for name, (_, order) in gold.items()} == {
        f"ex-{number}": order_of(number) for number in range(EXAMPLES)
    }
    assert Counter(source for source, _ in gold.values()) == {
        "agreed": EXAMPLES - len(DIFFERS),
        "adjudicated": len(DIFFERS),
    }
