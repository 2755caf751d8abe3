"""Hard days on the label page: three hundred tools of one prefix, forty turns, text from right to left, two tabs."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.keyboard import choose_tool
from tests.fixtures.application import LiveApp
from tests.labeling_pages.long_conversation import PREFIX

pytestmark = [pytest.mark.browser, pytest.mark.servers]

RTL = "الطلب A-20418 وصل متأخرا، والقميص ممزق. أريد إرجاعه يوم الخميس من فضلك إلى بطاقتي."
SEED = f"""
from labeling.datasets.services import dataset_create
from labeling.imports.services import examples_import
from tests.fixtures.people import PASSWORD
from tests.labeling_pages.long_conversation import long_input, many_tools
from toolevals.grading.reading.examples import read_example
from toolevals.registry.services import registry_create, registry_publish
from toolevals.workspace.models import Role
from toolevals.workspace.projects.services import member_set, project_create
from toolevals.workspace.accounts.services import user_create

project = project_create(actor=None, slug="shop", name="Shop")
for name in ("Ann", "Ben", "Cem", "Dia", "Eva", "Fay"):
    user = user_create(actor=None, email=f"{{name.lower()}}@example.org", name=name, password=PASSWORD)
    member_set(project=project, actor=None, user=user, role=Role.REVIEWER)
line = {{
    "type": "object",
    "properties": {{"sku": {{"type": "string"}}, "quantity": {{"type": "integer", "minimum": 1}}}},
    "required": ["sku", "quantity"],
    "additionalProperties": False,
}}
order = {{
    "name": "place_order",
    "description": "Orders articles.",
    "input_schema": {{
        "type": "object",
        "properties": {{
            "customer": {{"type": "string"}},
            "lines": {{"type": "array", "items": line, "minItems": 1}},
            "gifts": {{"type": "array", "items": line}},
            "parcels": {{"type": "integer", "minimum": 1}},
        }},
        "required": ["customer", "lines", "gifts", "parcels"],
        "additionalProperties": False,
    }},
}}
registry = registry_create(project=project, actor=None, slug="tools", name="Tools")
tools = registry_publish(registry=registry, actor=None, document=[order, *many_tools(299)])
said = {{
    "long": long_input(40),
    "rtl": {{"messages": [{{"role": "system", "content": {RTL!r}}}, {{"role": "user", "content": {RTL!r}}}]}},
}}
for name, content in said.items():
    dataset = dataset_create(project=project, actor=None, slug=name, name=name, default_tools=tools)
    rows = [read_example({{"id": f"{{name}}-{{place}}", "input": content}}) for place in range(3)]
    examples_import(dataset=dataset, actor=None, rows=rows)
"""


@pytest.fixture(scope="module")
def app(live_app_start: Callable[..., LiveApp]) -> LiveApp:
    started = live_app_start()
    started.python(SEED)
    return started


def opened(page: Page, app: LiveApp, dataset: str) -> Page:
    page.goto(f"{app.url}/p/shop/label/?dataset={dataset}")
    expect(page.locator(".tool-row").first).to_be_visible()
    return page


def test_enter_stops_at_a_list_that_lacks_items_and_bounds_are_said_where_they_stand(
    person: Callable[[str], Page], app: LiveApp
) -> None:
    page = opened(person("Ann"), app, "rtl")
    choose_tool(page, "place_order")
    page.keyboard.type("Ann")
    page.keyboard.press("Enter")
    # One item is open, since an empty list breaks the schema.
    expect(page.locator("[name='c1.v/lines/0/sku']")).to_be_focused()
    page.keyboard.type("LIN")
    page.keyboard.press("Enter")
    expect(page.locator("[name='c1.v/lines/0/quantity']")).to_be_focused()
    page.keyboard.type("0")
    page.keyboard.press("Enter")
    # The required list without items is not jumped over.
    expect(page.locator("[data-adds-to='c1/gifts']")).to_be_focused()
    # Other fields are still empty, and nothing was handed in.
    expect(page.locator("[data-error='c1/lines/0/quantity']")).to_contain_text("minimum of 1")
    page.keyboard.press("Enter")
    expect(page.locator("[name='c1.v/gifts/0/sku']")).to_be_focused()
    page.keyboard.type("RIB")
    page.keyboard.press("Enter")
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    expect(page.locator("[name='c1.v/parcels']")).to_be_focused()
    expect(page.locator("[data-error='c1/parcels']")).to_be_hidden()


def test_earlier_turns_are_fetched_when_they_are_opened(person: Callable[[str], Page], app: LiveApp) -> None:
    page = opened(person("Ben"), app, "long")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "part=" in request.url else None)
    assert page.locator(".conversation *").count() < 3_000
    expect(page.locator(".msg-now")).to_contain_text("Send the last one back")
    folds = page.locator("details[data-part-name]")
    left = folds.count()
    assert left > 30
    first = page.locator(".turn-fold").first
    expect(first.locator("summary")).to_contain_text("turn 1: Request 0.")
    first.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(first.locator(".msg-text")).to_contain_text("Order A-00011")
    expect(first.locator("summary")).to_be_focused()
    expect(folds).to_have_count(left - 1)
    # A second press closes it, and nothing is asked again.
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(first.locator(".msg-text")).to_be_visible()
    assert len(asked) == 1
    # Its values can be picked.
    choose_tool(page, "place_order")
    first.locator(".pick[data-value='A-00000']").first.click()
    expect(page.locator("[name='c1.v/customer']")).to_have_value("A-00000")


def test_all_that_is_folded_is_searched(person: Callable[[str], Page], app: LiveApp) -> None:
    page = opened(person("Cem"), app, "long")
    page.keyboard.press("c")
    # Words half typed unfold other turns.
    page.keyboard.type("A-00")
    expect(page.locator(".turn-fold[open]").first).to_contain_text("A-00000")
    page.keyboard.type("503")
    # Once in the user's words, once in the result.
    expect(page.locator("[data-find-count]")).to_have_text("1 of 2")
    expect(page.locator(".turn-fold[open]")).to_have_count(1)
    expect(page.locator(".turn-fold[open]")).to_contain_text("A-00503")


def test_a_fold_that_cannot_be_fetched_says_so_and_is_tried_again(person: Callable[[str], Page], app: LiveApp) -> None:
    page = opened(person("Dia"), app, "long")
    first = page.locator(".turn-fold").first
    page.context.set_offline(True)
    first.locator("summary").click()
    expect(first.get_by_role("status")).to_contain_text("Not loaded: the server did not answer")
    page.context.set_offline(False)
    first.locator("summary").click()
    first.locator("summary").click()
    expect(first.locator(".msg-text")).to_contain_text("Order A-00011")


def test_names_of_one_prefix_can_be_told_apart(person: Callable[[str], Page], app: LiveApp) -> None:
    page = opened(person("Eva"), app, "rtl")
    names = page.locator(".tool-row .tool:has(.mid)")
    assert names.count() == 299
    cut = names.first.evaluate(
        "one => { const [head, tail] = one.querySelector('.mid').children, frame = one.getBoundingClientRect();"
        " return [head.scrollWidth > head.clientWidth, tail.getBoundingClientRect().right <= frame.right + 1,"
        " one.textContent]; }"
    )
    assert cut == [True, True, f"{PREFIX}invoice_approve_0"]
    # Descriptions wrap.
    assert page.locator(".tool-row .desc").nth(5).evaluate("one => one.getBoundingClientRect().height") > 25
    choose_tool(page, "supplier_list_7")
    expect(page.locator("#args-h")).to_contain_text("supplier_list_7")


def test_no_button_lies_on_text_from_right_to_left(person: Callable[[str], Page], app: LiveApp) -> None:
    page = opened(person("Fay"), app, "rtl")
    covered = """(part) => {
      const button = part.querySelector(".btn-copy:not([hidden])").getBoundingClientRect();
      const range = document.createRange();
      range.selectNodeContents(part.querySelector(".msg-text, pre"));
      return [...range.getClientRects()].some((one) => one.right > button.left + 1 && one.left < button.right - 1 &&
        one.bottom > button.top + 1 && one.top < button.bottom - 1);
    }"""
    parts = page.locator(".conversation [data-part]")
    assert parts.count() == 2
    for part in parts.all():
        part.hover()
        assert not part.evaluate(covered)
    expect(page.locator(".msg-now .msg-text")).to_have_css("direction", "rtl")


def test_each_of_two_tabs_says_that_there_is_another(person: Callable[[str], Page], app: LiveApp) -> None:
    one = opened(person("Fay"), app, "rtl")
    expect(one.locator("[data-elsewhere]")).to_be_hidden()
    two = one.context.new_page()
    two.goto(one.url)
    for page in (one, two):
        expect(page.locator("[data-elsewhere]")).to_have_text("Open in another tab too: hand it in from one of them")
        expect(page.locator("[data-elsewhere]")).to_be_visible()
    two.goto(f"{app.url}/p/shop/")
    expect(one.locator("[data-elsewhere]")).to_be_hidden()


def test_the_pages_are_accessible(
    person: Callable[[str], Page], app: LiveApp, axe: Callable[[Page], list[str]]
) -> None:
    page = opened(person("Ann"), app, "long")
    page.locator(".turn-fold summary").first.click()
    expect(page.locator(".turn-fold").first.locator(".msg-text")).to_be_visible()
    assert json.dumps(axe(page)) == "[]"
