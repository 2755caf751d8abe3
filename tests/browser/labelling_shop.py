"""A shop whose examples two reviewers label in browsers: its seed, its people's first page, and labels by keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.keyboard import choose_tool
from tests.fixtures.application import LiveApp

EXAMPLES = 6


SEED = """
import json
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
tools = registry_publish(registry=registry, actor=None, document=TOOLS)
dataset = dataset_create(
    project=project, actor=None, slug="core", name="Core", guideline="# Dates", default_tools=tools
)
examples_import(dataset=dataset, actor=None, rows=[read_example(row(number)) for number in range(6)])
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
from labeling.imports.services import examples_import
from tests.labeling_pages.shop import row
from toolevals.grading.reading.examples import read_example
dataset = Dataset.objects.get(slug="core")
LabelSlot.objects.exclude(state="submitted").update(state="closed")
start = 100 + dataset.examples.count()
examples_import(dataset=dataset, actor=None, rows=[read_example(row(start + number)) for number in range(2)])
"""
