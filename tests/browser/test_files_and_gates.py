"""Files that are dropped, large documents of tools, and gates made by form: in a browser, wide and narrow."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.labelling_shop import SEED
from tests.fixtures.application import LiveApp

pytestmark = [pytest.mark.browser, pytest.mark.servers]

RUN = """
from celery import current_app
from labeling.models import Dataset
from labeling.imports.services import examples_import
from labeling.versions.services import version_freeze
from tests.labeling_pages.shop import row
from tests.runs.building import baseline_run
from toolevals.grading.reading.examples import read_example
from toolevals.workspace.models import Project

project = Project.objects.get()
dataset = Dataset.objects.get()
rows = [read_example(row(number, expected_tool=None)) for number in range(20, 24)]
examples_import(dataset=dataset, actor=None, rows=rows)
baseline_run(project, version_freeze(dataset=dataset, actor=None))
"""
# What a person does who lets a file fall on the page.
FALL = """({name, content}) => {
  const bytes = Uint8Array.from(atob(content), (each) => each.charCodeAt(0));
  const held = new DataTransfer();
  held.items.add(new File([bytes], name));
  for (const kind of ["dragover", "drop"]) {
    const event = new DragEvent(kind, { dataTransfer: held, bubbles: true, cancelable: true });
    document.querySelector("main").dispatchEvent(event);
  }
}"""


@pytest.fixture(scope="module")
def app(live_app_start: Callable[..., LiveApp]) -> LiveApp:
    started = live_app_start()
    started.python(SEED)
    started.python(RUN)
    return started


def document(count: int) -> bytes:
    paths = {
        f"/things/{number}": {"get": {"operationId": f"get_{number}", "summary": "Reads it. " * 40, "callbacks": {}}}
        for number in range(count)
    }
    return json.dumps({"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": paths}).encode()


def fall(page: Page, name: str, content: bytes) -> None:
    page.wait_for_load_state()
    page.evaluate(FALL, {"name": name, "content": base64.b64encode(content).decode()})


def fits(page: Page) -> None:
    """Check that the page does not scroll sideways."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("width", [1440, 360])
def test_a_file_that_falls_on_the_page_is_shown_and_then_published(
    app: LiveApp, person: Callable[[str], Page], axe: Any, width: int
) -> None:
    page = person("Ada")
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{app.url}/p/shop/")
    fits(page)
    fall(page, "things.json", document(3))
    expect(page.locator("#say")).to_have_text("3 tools")
    expect(page.get_by_text("openapi is '3.1.0'").first).to_be_visible()
    expect(page.get_by_text("Not carried over: 3")).to_be_visible()
    fits(page)
    assert axe(page) == []
    page.get_by_label("Registry").select_option("")
    page.get_by_label("Or a new one").fill(f"Things {width}")
    page.get_by_label("get_1").uncheck()
    page.get_by_role("button", name="Publish the tools").click()
    expect(page).to_have_url(re.compile(rf"/registries/things-{width}/1/$"))
    expect(page.get_by_text("get_2").first).to_be_visible()
    expect(page.get_by_text("get_1", exact=True)).to_have_count(0)


def test_a_file_that_is_chosen_before_the_script_is_there_is_sent(app: LiveApp, person: Callable[[str], Page]) -> None:
    page = person("Ada")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(re.compile(r"/drop[^/]*\.js"), hold, times=1)
    page.goto(f"{app.url}/p/shop/", wait_until="commit")
    page.locator("#drop-file").set_input_files(
        {"name": "odd.json", "mimeType": "", "buffer": b'{"eval_set_id": "x", "conversation": []}'}
    )
    while not held:
        page.wait_for_timeout(50)
    assert page.get_by_role("alert").count() == 0
    held.pop().continue_()
    expect(page.get_by_role("alert")).to_contain_text("The nearest format is ADK evaluation set")
    # The file does not come back with the page.
    page.go_back(wait_until="load")
    assert page.locator("#drop-file").evaluate("field => field.files.length") == 0


def test_an_unknown_file_is_refused_and_the_next_is_chosen_by_keyboard(
    app: LiveApp, person: Callable[[str], Page]
) -> None:
    page = person("Ada")
    # From now on no chooser opens a window: whoever asks for that while a key is pressed may come too late.
    page.on("filechooser", lambda _: None)
    page.goto(f"{app.url}/p/shop/")
    fall(page, "odd.json", b'{"eval_set_id": "x", "conversation": []}')
    expect(page.get_by_role("alert")).to_contain_text("The nearest format is ADK evaluation set")
    page.wait_for_load_state()
    chooser = page.locator("#drop-file")
    chooser.focus()
    expect(chooser).to_be_focused()
    with page.expect_file_chooser() as asked:
        page.keyboard.press("Space")
    example = {"id": "a", "input": {"messages": [{"role": "user", "content": "Where is A-1?"}]}, "expected_tool": None}
    asked.value.set_files({"name": "examples.jsonl", "mimeType": "", "buffer": json.dumps(example).encode()})
    expect(page.locator("#say")).to_have_text("1 example")
    expect(page.get_by_text("Where is A-1?")).to_be_visible()
    page.get_by_role("button", name="Discard the file").click()
    expect(page).to_have_url(f"{app.url}/p/shop/")


@pytest.mark.parametrize("width", [1440, 360])
def test_a_large_document_is_waited_for_and_chosen_from(
    app: LiveApp, person: Callable[[str], Page], width: int
) -> None:
    page = person("Ada")
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{app.url}/p/shop/registries/tools/")
    content = document(700)
    page.get_by_label("File", exact=True).set_input_files({"name": "t.json", "mimeType": "", "buffer": content})
    page.get_by_role("button", name="Preview tools").click()
    expect(page).to_have_url(re.compile(r"\?job="))
    expect(page.get_by_text("700 tools,")).to_be_visible(timeout=60_000)
    fits(page)
    # The file is not chosen again.
    page.locator("[data-choice-search]").fill("get_69")
    page.get_by_role("button", name="Select all shown", exact=True).click()
    page.get_by_role("button", name="Publish", exact=True).click()
    page.get_by_role("link", name="Open the result").click()
    expect(page).to_have_url(re.compile(r"/registries/tools/\d+/$"))


@pytest.mark.parametrize("width", [1440, 360])
def test_a_gate_is_made_by_form_previewed_and_saved(
    app: LiveApp, person: Callable[[str], Page], axe: Any, width: int
) -> None:
    name = f"release-{width}"
    page = person("Ada")
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{app.url}/p/shop/gates/")
    page.get_by_role("link", name="New gate").click()
    page.get_by_label("Name", exact=True).fill(name)
    bounds = page.get_by_role("group", name="Bounds: bound 1")
    bounds.get_by_label("Metric").select_option("selection")
    bounds.get_by_label("At least").fill("95")
    page.get_by_role("button", name="Save the gate").click()
    expect(bounds.get_by_text("not a percentage")).to_be_visible()
    fits(page)
    assert axe(page) == []
    bounds.get_by_label("At least").fill("0.01")
    page.get_by_role("button", name="Add a bound").click()
    second = page.get_by_role("group", name="Bounds: bound 2")
    second.get_by_label("Metric").select_option("outcome")
    second.get_by_label("At least").fill("1")
    page.get_by_role("button", name="Preview the last ten runs").click()
    expect(page.get_by_text(re.compile("Of the one run: 1 (failed|passed)"))).to_be_visible(timeout=60_000)
    expect(page.get_by_role("row", name=re.compile("selection pass_rate"))).to_contain_text("passed")
    fits(page)
    page.get_by_role("link", name=re.compile("selection pass_rate in run")).click()
    expect(page.get_by_role("heading", name=re.compile("selection pass_rate"))).to_be_visible()
    page.go_back()
    # The form still holds what was tried.
    expect(page.get_by_label("Name", exact=True)).to_have_value(name)
    page.get_by_role("button", name="Save the gate").click()
    expect(page).to_have_url(re.compile(f"/gates/named/{name}/$"))
    expect(page.get_by_role("region", name="Document of the gate")).to_contain_text("metric: selection")
    fits(page)
    assert axe(page) == []
    page.goto(f"{app.url}/p/shop/runs/1/gates/")
    page.locator("select[name=name]").select_option(name)
    page.get_by_role("button", name="Check the run").click()
    expect(page.get_by_text("gate", exact=True)).to_be_visible()
    expect(page.locator(".subject-facts")).to_contain_text(name)
