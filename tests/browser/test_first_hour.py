"""docs/first-hour.md on the pages: two people do what it says, press what it names, and their time is counted."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
import yaml
from playwright.sync_api import Browser, expect

from scripts.dev.environment import ROOT
from tests.browser.conftest import WAIT
from tests.browser.first_hour_steps import drop, tab, to_page, until
from tests.fixtures.application import LiveApp
from tests.fixtures.first_hour import FILES, commands, example, refused, require_named
from tests.fixtures.person_time import Person, PersonTime

pytestmark = [pytest.mark.browser, pytest.mark.servers]

# What two people need for all of it together, in seconds.
MOST_SECONDS = 600
# Three words, as people choose them.
PASSWORD = "seven green boats"
OWNER = ["create-owner", "ada@example.org", "--name", "Ada", "--project", "desk", "--project-name", "Library desk"]
CREATE = f"""
import os
os.environ["TOOLEVALS_PASSWORD"] = {PASSWORD!r}
from toolevals.cli.main import main
raise SystemExit(main({OWNER!r}))
"""
# The question about which the two differ: Ben would ask first.
DIFFERS = "desk-20"
# What the tools take, in the order of their fields; the choices of a branch.
ARGUMENTS = ("words", "loan_id", "book_id", "member_id", "reservation_id")
BRANCHES = ("main", "north", "harbour")


@pytest.fixture(scope="module")
def app(live_app_start: Callable[..., LiveApp]) -> LiveApp:
    started = live_app_start()
    started.python(CREATE)
    return started


@pytest.fixture
def spent() -> PersonTime:
    return PersonTime()


@pytest.fixture
def somebody(browser: Browser, spent: PersonTime) -> Iterator[Callable[[], Person]]:
    """Return a function that gives one more person a browser; no script of the pages may fail."""
    contexts, errors = [], []

    def start() -> Person:
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.set_default_timeout(WAIT)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        return Person(page, spent, require_named)

    yield start
    for context in contexts:
        context.close()
    assert errors == []


def test_two_people_come_from_files_to_a_gate_in_less_than_ten_minutes(
    app: LiveApp, somebody: Callable[[], Person], spent: PersonTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, ben = somebody(), somebody()
    ada.open(f"{app.url}/")
    sign_in(ada, "ada@example.org")
    ada.sees(ada.page.get_by_role("heading", name="Five steps", exact=True))
    bring_tools(ada)
    bring_examples(ada)
    join(ada, ben)
    for person in (ada, ben):
        label_all(person, asks_first=person is ben)
    settle(ada)
    grade(ada)
    read_matrix(ada)
    hold_gate(ada, app, monkeypatch)
    print(spent.words())  # noqa: T201 - shown by -s
    assert spent.total < MOST_SECONDS, spent.words()


def sign_in(person: Person, address: str) -> None:
    person.fill("E-mail address", address)
    person.fill("Password", PASSWORD)
    person.press("Sign in")


def bring_tools(ada: Person) -> None:
    drop(ada, "openapi.yaml")
    ada.sees(ada.page.get_by_role("heading", name="6 tools"))
    ada.fill("Or a new one", "library")
    ada.press("Publish the tools")
    ada.sees(ada.page.get_by_role("heading", name="library"))


def bring_examples(ada: Person) -> None:
    to_page(ada, "Overview")
    drop(ada, "examples.csv")
    ada.fill("Or a new one", "desk")
    expect(ada.page.get_by_label("Default tools for a new dataset")).to_contain_text("library, version 1")
    ada.press("Import the examples")
    # The preview of the file has a heading "Columns" too.
    ada.sees(ada.page.locator(".columns-table"))
    ada.press("Import")
    errors = ada.page.locator(".line-errors li")
    ada.sees(errors.first)
    assert [" ".join(line.split()) for line in errors.all_inner_texts()] == [
        " ".join(filter(None, (f"line {each.line}", each.field and f"/{each.field}", each.message)))
        for each in refused()
    ]
    ada.give(ada.page.get_by_label("File", exact=True), example("examples-mended.csv"))
    ada.press("Import")
    # Until the file's columns are there, a button of the same name would send the file once more.
    ada.sees(ada.page.get_by_role("link", name="Another file"))
    ada.press("Import")
    ada.sees(ada.page.get_by_text("20 new"))


def join(ada: Person, ben: Person) -> None:
    """Invite Ben by a link, and let Ada decide where the two differ."""
    to_page(ada, "Members")
    ada.fill("E-mail address", "ben@example.org")
    ada.choose("Role", "reviewer")
    ada.press("Create invitation link")
    ada.sees(ada.page.locator(".secret code"))
    link = ada.page.locator(".secret code").inner_text()
    ada.follow("Labelling")
    ada.mark("Adjudicators may decide what they have labelled")
    ada.press("Save")
    # Ben clicks on it in his mail: what he would have to type is no more than that.
    with ben.spent.waiting():
        ben.page.goto(link)
    ben.read()
    ben.fill("Your name", "Ben")
    ben.fill("Password", PASSWORD)
    ben.fill("Confirm password", PASSWORD)
    ben.press("Create account")
    sign_in(ben, "ben@example.org")
    ben.sees(ben.page.get_by_role("navigation", name="Project", exact=True))


def label_all(person: Person, *, asks_first: bool) -> None:
    """Label every example that waits, as the gold says it; `asks_first`: but for one, about which people differ."""
    gold = {row["id"]: row for row in csv.DictReader((FILES / "gold.csv").read_text().splitlines())}
    tab(person, "Label")
    heading = person.page.get_by_role("heading", level=1)
    for _ in range(6):
        expect(person.page.locator(".tool-row").first).to_be_visible()
        name = heading.locator(".mono").inner_text()
        person.read()
        if asks_first and name == DIFFERS:
            person.key("0")
            expect(person.page.locator("#panel input[name=why]").first).to_be_focused()
            person.key("ArrowDown")
        else:
            label(person, gold[name])
        person.key("Control+Enter", think=False)
        with person.spent.waiting():
            expect(heading).not_to_contain_text(name)
    assert heading.inner_text() == "Nothing to label"


def label(person: Person, row: dict[str, str]) -> None:
    """Choose the tool by its number and say its arguments in the order of the fields."""
    tool = person.page.locator(".tool-row", has=person.page.get_by_text(row["tool"], exact=True))
    person.key(tool.locator("kbd").inner_text())
    first = person.page.locator("#panel [data-value]").first
    with person.spent.waiting():
        expect(person.page.locator("#args-h")).to_have_text(row["tool"])
        expect(first).to_be_focused()
    if branch := row["branch"]:
        person.key("Space", *["ArrowRight"] * BRANCHES.index(branch))
        expect(person.page.get_by_label(branch, exact=True)).to_be_checked()
        return
    names = [name for name in ARGUMENTS if row[name]]
    for place, name in enumerate(names):
        field = person.page.locator(f"[name='c1.v/{name}']")
        if place:
            person.key("Tab", "Tab", think=False)  # past how it is compared
        expect(field).to_be_focused()
        person.type(row[name])


def settle(ada: Person) -> None:
    """Wait until the labels are compared, and decide the one example in which they differ."""
    heading = ada.page.get_by_role("heading", level=1)
    tab(ada, "Adjudicate")
    until(ada, lambda: DIFFERS in heading.inner_text())
    ada.read()
    left = ada.page.locator(".side").first.inner_text()
    ada.key("ArrowLeft" if "list_loans" in left else "ArrowRight", "r")
    ada.type("The card is enough to look.")
    ada.key("Control+Enter", think=False)
    ada.sees(ada.page.get_by_role("heading", name="Nothing to adjudicate"))


def grade(ada: Person) -> None:
    tab(ada, "Datasets")
    ada.follow("desk")
    ada.follow("Versions")
    until(ada, lambda: ada.page.get_by_text("20 of 20 examples have gold now.").is_visible())
    ada.press("Freeze")
    ada.follow("Start a run")
    form = ada.page.get_by_role("region", name="Upload predictions")
    ada.fill("Experiment", "first", within=form)
    ada.fill("Agent", "desk-agent", within=form)
    ada.give(form.get_by_label("Predictions", exact=True), example("predictions.jsonl"))
    ada.press("Upload and grade", within=form)
    ada.sees(ada.page.get_by_text("17 of 20").first, seconds=60)


def read_matrix(ada: Person) -> None:
    """From the matrix to a cell, a case and back, and the matrix as a table."""
    ada.follow("Confusion matrix")
    ada.named("T")
    ada.key("t")
    cell = ada.page.get_by_role("link", name="2 expected renew_loan, called list_loans")
    ada.point_at(cell)
    cases = ada.page.locator("#cell .case-link")
    ada.sees(cases.first)
    assert cases.count() == 2
    ada.point_at(cases.first)
    ada.sees(ada.page.get_by_role("heading", level=1))
    expect(ada.page.locator(".case-head")).to_contain_text(re.compile("desk-(06|15)"))
    ada.point_at(ada.page.locator("[data-back]"))
    ada.named("CSV")
    ada.point_at(ada.page.locator("[data-csv] summary"))
    ada.named("Matrix, one row per cell")
    with ada.page.expect_download() as downloading:
        ada.point_at(ada.page.get_by_role("link", name="Matrix, one row per cell", exact=True))
    table = list(csv.DictReader(downloading.value.path().read_text().splitlines()))
    assert ("renew_loan", "list_loans", "2") in {(row["expected"], row["actual"], row["count"]) for row in table}


def hold_gate(ada: Person, app: LiveApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a gate on a page, make a token, and hold the run by the gate's name at a terminal, as CI does."""
    to_page(ada, "Overview")
    drop(ada, "gate.yaml")
    ada.press("Create a gate from this file")
    ada.fill("Name", "release")
    ada.press("Save the gate", within=ada.page.locator(".gate-acts"))
    ada.sees(ada.page.get_by_role("region", name="Document of the gate"))
    kept = yaml.safe_load(ada.page.get_by_role("region", name="Document of the gate").inner_text())
    asked = yaml.safe_load((FILES / "gate.yaml").read_text())
    assert [{key: rule[key] for key in ("metric", "min")} for rule in kept["bounds"]] == asked["bounds"]
    to_page(ada, "Tokens")
    ada.fill("Name", "ci")
    ada.press("Create token")
    ada.sees(ada.page.locator(".secret code"))
    for name, value in (
        ("URL", app.url),
        ("PROJECT", "desk"),
        ("TOKEN", ada.page.locator(".secret code").inner_text()),
    ):
        ada.named(f"TOOLEVALS_{name}")
        monkeypatch.setenv(f"TOOLEVALS_{name}", value)
    (by_name,) = [block for block in commands() if "--name release" in block.lines]
    ada.type_elsewhere(by_name.lines)
    with ada.spent.waiting():
        done = subprocess.run(
            [sys.executable, "-m", "toolevals.cli.main", *by_name.lines.split()[1:]],
            cwd=ROOT, text=True, capture_output=True, check=False,
        )  # fmt: skip
    assert done.returncode == by_name.status == 0, done.stdout + done.stderr
    assert "Gate passed. 2 passed." in done.stdout
