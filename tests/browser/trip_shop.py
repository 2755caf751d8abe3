"""A travel desk whose tools have every kind of argument: its seed, and its label page on a slow line."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

from tests.fixtures.application import LiveApp

TRIP: dict[str, Any] = {
    "type": "object",
    "properties": {
        "order": {"type": "string"},
        "day": {"type": "string", "format": "date"},
        "city": {"type": "string", "enum": ["vienna", "graz", "linz", "salzburg", "klagenfurt"]},
        "class": {"type": "string", "enum": ["first", "second"]},
        "nights": {"type": "integer"},
        "quiet": {"type": "boolean"},
        "via": {"type": "array", "items": {"type": "string", "enum": ["graz", "linz"]}},
        "guests": {
            "type": "array",
            "items": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        },
    },
    "required": ["order", "day", "city", "class", "nights", "quiet", "via", "guests"],
    "additionalProperties": True,
}
TOOLS: list[dict[str, Any]] = [
    {
        "name": "issue_refund",
        "description": "Pays money back; use create_return first, or after book_trip was called",
        "input_schema": {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]},
        "annotations": {"destructive": True},
    },
    {"name": "recreate_return", "description": "Opens a return again", "input_schema": {"type": "object"}},
    {"name": "create_return_label", "description": "Prints it", "input_schema": {"type": "object"}},
    {
        "name": "create_return",
        "description": "Opens a return",
        "input_schema": {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]},
    },
    {"name": "book_trip", "description": "Books a journey", "input_schema": TRIP},
    {"name": "getTripState", "description": "State of a journey", "input_schema": {"type": "object"}},
]
SEED = f"""
from labeling.datasets.services import dataset_create
from tests.fixtures.people import PASSWORD
from toolevals.registry.services import registry_create, registry_publish
from toolevals.workspace.models import Role
from toolevals.workspace.projects.services import member_set, project_create
from toolevals.workspace.accounts.services import user_create
project = project_create(actor=None, slug="shop", name="Travel desk")
for name, role in (("Ann", Role.REVIEWER), ("Ada", Role.ADJUDICATOR)):
    user = user_create(actor=None, email=f"{{name.lower()}}@example.org", name=name, password=PASSWORD)
    member_set(project=project, actor=None, user=user, role=role)
registry = registry_create(project=project, actor=None, slug="tools", name="Tools")
tools = registry_publish(registry=registry, actor=None, document={TOOLS!r})
dataset_create(project=project, actor=None, slug="core", name="Core", default_tools=tools)
"""
SEED_ONE = """
from labeling.models import Dataset, LabelSlot
from labeling.imports.services import examples_import
from toolevals.grading.reading.examples import read_example
dataset = Dataset.objects.get(slug="core")
LabelSlot.objects.exclude(state="submitted").update(state="closed")
said = "Please book Vienna for 3 nights on 2026-01-15, order A-77, via Linz, second class, at $1,250.00, so. 東京まで。"
row = {"id": f"trip-{dataset.examples.count()}", "input": {"messages": [{"role": "user", "content": said}]}}
examples_import(dataset=dataset, actor=None, rows=[read_example(row)])
"""
LATENCIES = (200, 1000)


def open_trip(page: Page, app: LiveApp, *, tool: str = "book_trip") -> None:
    """Open the label page of a new example, with the pane of one tool."""
    app.python(SEED_ONE)
    page.goto(f"{app.url}/p/shop/label/")
    page.locator(".tool-row", has_text=tool).first.wait_for()
    if tool:
        page.locator(".tool-row", has=page.get_by_text(tool, exact=True)).click()
        expect(page.locator("#args-h .tool")).to_have_text(tool)


def slow(page: Page, milliseconds: int) -> None:
    """Let every answer take so long from now on."""
    line = page.context.new_cdp_session(page)
    rates = {"downloadThroughput": -1, "uploadThroughput": -1}
    line.send("Network.enable")
    line.send("Network.emulateNetworkConditions", {"offline": False, "latency": milliseconds, **rates})


def value(page: Page, name: str) -> Any:
    """Return the control that an argument's value is entered into."""
    return page.locator(f"#panel [data-value][name='c1.v/{name}']")


def matcher(page: Page, name: str) -> Any:
    """Return the control that says how an argument is compared."""
    return page.locator(f"#panel [name='c1.m/{name}']")
