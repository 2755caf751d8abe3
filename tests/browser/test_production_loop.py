"""From production to gold and back: traces are sent, sampled, labelled by two, decided, frozen, and asked of an agent.

From the matrix one comes back to the conversation in production. With LOOP_TRACES the sample is that large. Of
230 traces come 200 examples and 400 labels. On two cores that others use too, it took 106 s: 6 to
send, 16 to sum up, 25 to draw and make, 37 to label and decide, 7 to run, 11 to ask today's agent, and 3 to read.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.agents.chat_server import chat_server
from tests.browser.production_people import Reviewer, adjudicate, agent
from tests.fixtures.application import LiveApp
from tests.grading.benchmark import needs_benchmark
from toolevals.cli.main import main

pytestmark = [pytest.mark.browser, pytest.mark.servers, needs_benchmark]

TRACES = int(os.environ.get("LOOP_TRACES", "10"))
# Conversations that are sent of each file: the smaller one has 115.
OF_EACH = min(TRACES * 3 // 5, 115)
# Milliseconds for the work of a large sample.
SLOW = 300_000
FILES = (("airline-desk", "gpt-4o", "tau_gpt-4o_airline"), ("retail-desk", "grok-3", "tau_grok-3_retail_flaky503"))
SEED = """
import json
from labeling.datasets.services import dataset_create
from labeling.batches.overlap import labelling_set
from tests.fixtures.people import PASSWORD
from toolevals.workspace.models import Role, TokenScope
from toolevals.workspace.projects.services import member_set, project_create
from toolevals.workspace.tokens.services import token_create
from toolevals.workspace.accounts.services import user_create

project = project_create(actor=None, slug="shop", name="Shop")
tokens = {}
for name, role in (("Ada", Role.ADJUDICATOR), ("Ben", Role.REVIEWER), ("Cleo", Role.REVIEWER)):
    user = user_create(actor=None, email=f"{name.lower()}@example.org", name=name, password=PASSWORD)
    member_set(project=project, actor=None, user=user, role=role)
    tokens[name] = token_create(project=project, actor=user, user=user, name="rest", role=role)[1]
    if name == "Ada":
        tokens["agent"] = token_create(
            project=project, actor=user, user=user, name="agent", role=Role.VIEWER, scope=TokenScope.TRACES
        )[1]
labelling_set(
    project=project, actor=None, labels_wanted=2, labels_share=1, undo_seconds=0, decide_own=False, suggestions=False
)
dataset_create(project=project, actor=None, slug="desk", name="Desk")
print(json.dumps(tokens))
"""

SETTLE = """
from labeling.adjudicate.resolution import settle_due
from tests.labeling.windows import later

settle_due(later())
"""


@pytest.fixture(scope="module")
def app(live_app_start: Callable[..., LiveApp]) -> LiveApp:
    return live_app_start()


@pytest.fixture(scope="module")
def tokens(app: LiveApp) -> dict[str, str]:
    found: dict[str, str] = json.loads(app.python(SEED))
    return found


@pytest.fixture
def by_rest(app: LiveApp, tokens: dict[str, str]) -> Iterator[dict[str, Reviewer]]:
    """Do by REST what people do: Cleo is hasty."""
    found = {name: Reviewer(app.url, tokens[name], hasty=name == "Cleo") for name in ("Ada", "Ben", "Cleo")}
    yield found
    for each in found.values():
        each.http.close()


def test_a_conversation_of_production_becomes_gold_and_is_found_again(
    app: LiveApp,
    tokens: dict[str, str],
    by_rest: dict[str, Reviewer],
    person: Callable[[str], Page],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    send(app, tokens["agent"], monkeypatch)
    ada = person("Ada")
    summed_up(by_rest["Ada"])
    count = sample(ada, app)
    label(person("Ben"), app, by_rest, count)
    freeze(ada, app, count)
    with chat_server(agent) as server:
        run(by_rest["Ada"], server.url)
        ask_today(ada, app)
    read(ada, app)


def send(app: LiveApp, token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Send conversations of both desks, as their agents would, by a token that reads nothing."""
    for name, value in (("URL", app.url), ("PROJECT", "shop"), ("TOKEN", token)):
        monkeypatch.setenv(f"TOOLEVALS_{name}", value)
    for name, model, file in FILES:
        path = Path(os.environ["TOOLEVALS_BENCHMARK_DATA"]) / "tau" / f"{file}.slim.json.gz"
        assert main(["send", str(path), "--agent", name, "--model", model, "--limit", str(OF_EACH)]) == 0


def summed_up(ada: Reviewer) -> None:
    """Wait until every trace is summed up."""
    deadline = time.monotonic() + SLOW / 1000
    while len(ada.http.get("traces/", params={"limit": 1000}).json()["results"]) < OF_EACH * len(FILES):
        assert time.monotonic() < deadline
        time.sleep(0.5)


def sample(ada: Page, app: LiveApp) -> int:
    """Draw a sample, look at its texts, and have it made; return how many examples there are."""
    ada.goto(f"{app.url}/p/shop/traces/")
    expect(ada.locator("tbody tr").first).to_be_visible()
    picture(ada, "traces")
    ada.get_by_role("link", name="Create examples", exact=True).click()
    ada.get_by_label("Traces", exact=True).fill(str(TRACES))
    ada.get_by_label("Turns").select_option("one")
    ada.get_by_label("clusters of requests").check()
    picture(ada, "ask")
    ada.get_by_role("button", name="Preview").click()
    heading = ada.get_by_role("heading", name=re.compile(r"^\d+ examples to make$"))
    expect(heading).to_be_visible(timeout=SLOW)
    expect(ada.get_by_text(f"{TRACES} traces drawn")).to_be_visible()
    count = int(heading.inner_text().split()[0])
    picture(ada, "texts")
    ada.get_by_role("button", name=f"Create {count} examples").click()
    expect(ada.get_by_role("heading", name=f"{count} examples made")).to_be_visible(timeout=SLOW)
    picture(ada, "made")
    return count


def label(ben: Page, app: LiveApp, by_rest: dict[str, Reviewer], count: int) -> None:
    """Let two people label, one of them the last example on the page; what differs is decided. Traces are closed."""
    assert by_rest["Cleo"].label() == count
    assert by_rest["Ben"].label(count - 1) == count - 1
    ben.goto(f"{app.url}/p/shop/traces/")
    expect(ben.get_by_text("being labelled").first).to_be_visible()
    ben.goto(f"{app.url}/p/shop/label/")
    expect(ben.locator(".tool-row").first).to_be_visible()
    picture(ben, "label")
    ben.keyboard.press("0")
    ben.keyboard.press("ArrowDown")
    ben.keyboard.press("Control+Enter")
    expect(ben.get_by_role("heading", level=1)).to_have_text("Nothing to label")
    app.python(SETTLE)
    assert adjudicate(by_rest["Ada"]) > 0


def freeze(ada: Page, app: LiveApp, count: int) -> None:
    """Freeze a version of what has gold by now."""
    until(
        ada,
        f"{app.url}/p/shop/datasets/desk/versions/",
        lambda: ada.get_by_text(f"{count} of {count} examples have gold now.").is_visible(),
    )
    ada.get_by_role("button", name="Freeze").click()
    expect(ada.get_by_role("heading", name="Version 1 is frozen")).to_be_visible()


def run(ada: Reviewer, server: str) -> None:
    """Let today's agent answer, and wait until that is graded."""
    http = ada.http
    asked: dict[str, Any] = {
        "experiment": "desk", "dataset": "desk@1", "name": "desk agent", "model": "small", "connector": "openai",
        "options": {"base_url": server},
    }  # fmt: skip
    answer = http.post("runs/live/", json=asked)
    assert answer.status_code == 202, answer.text
    job = answer.json()["job"]["id"]
    deadline = time.monotonic() + SLOW / 1000
    while (state := http.get(f"jobs/{job}/").json()["state"]) != "succeeded":
        assert state == "running"
        assert time.monotonic() < deadline
        time.sleep(0.2)


def ask_today(ada: Page, app: LiveApp) -> None:
    """Ask the same agent what the desk of the airline was asked in production, and see both matrices."""
    ada.goto(f"{app.url}/p/shop/traces/?agent=airline-desk")
    ada.get_by_role("link", name="Ask today’s agent").click()
    ada.get_by_role("button", name="Ask the agent").click()
    expect(ada).to_have_url(re.compile("/jobs/"))
    result = ada.get_by_role("link", name="Open the result")
    until(ada, ada.url, result.is_visible)
    result.click()
    expect(ada).to_have_url(re.compile("/beside/"))
    compare = ada.get_by_role("link", name="Compare them by example")
    until(ada, ada.url, compare.is_visible)
    expect(ada.get_by_role("img", name="Confusion matrix of run 2")).to_be_visible()
    expect(ada.get_by_role("img", name="Confusion matrix of run 3")).to_be_visible()
    picture(ada, "beside")
    compare.click()
    expect(ada.get_by_role("heading", name="Changes in the matrix")).to_be_visible()


def read(ada: Page, app: LiveApp) -> None:
    """Go from the largest confusion to the conversation in production, at once and by its case, and look both ways."""
    ada.goto(f"{app.url}/p/shop/runs/1/matrix/")
    cell = ada.locator("#cell")
    expect(cell.locator(".case-link").first).to_be_visible()
    picture(ada, "matrix")
    name = cell.locator(".case-link .mono").first.inner_text()
    cell.get_by_role("link", name=f"The trace of {name}").click()
    examples = ada.get_by_role("region", name="Examples of this trace")
    expect(examples.get_by_role("link", name=name, exact=True)).to_be_visible()
    expect(examples.get_by_role("link", name="Run 1")).to_be_visible()
    trace = ada.url
    picture(ada, "trace")
    examples.get_by_role("link", name="Run 1").click()
    expect(ada.locator(".case-head")).to_contain_text(name)
    picture(ada, "case")
    ada.get_by_role("link", name="View trace").click()
    expect(ada).to_have_url(trace)
    examples.get_by_role("link", name=name, exact=True).click()
    expect(ada.get_by_role("heading", level=1)).to_contain_text(name)
    ada.get_by_role("link", name="View trace").click()
    expect(ada).to_have_url(trace)


def until(page: Page, address: str, holds: Callable[[], bool]) -> None:
    """Load a page again until something holds on it."""
    deadline = time.monotonic() + SLOW / 1000
    page.goto(address)
    while not holds():
        assert time.monotonic() < deadline, page.inner_text("main")
        page.wait_for_timeout(500)
        page.reload()


def picture(page: Page, name: str) -> None:
    """Keep the page at both widths, where LOOP_PICTURES names a folder."""
    folder = os.environ.get("LOOP_PICTURES")
    if not folder:
        return
    for width in (360, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        page.screenshot(path=Path(folder) / f"{name}-{width}.png", full_page=True, animations="disabled")
