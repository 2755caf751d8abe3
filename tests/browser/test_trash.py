"""The trash in a browser: an owner deletes a dataset, finds it there, restores it, and destroys it for good."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.labelling_shop import SEED
from tests.fixtures.application import LiveApp

pytestmark = [pytest.mark.browser, pytest.mark.servers]

OWNER = """
from tests.fixtures.people import PASSWORD
from toolevals.workspace.models import Project, Role
from toolevals.workspace.projects.services import member_set
from toolevals.workspace.accounts.services import user_create
owner = user_create(actor=None, email="otto@example.org", name="Otto", password=PASSWORD)
member_set(project=Project.objects.get(), actor=None, user=owner, role=Role.OWNER)
"""


@pytest.fixture(scope="module")
def app(live_app_start: Callable[..., LiveApp]) -> LiveApp:
    started = live_app_start()
    started.python(SEED)
    started.python(OWNER)
    return started


def delete_dataset(page: Page, app: LiveApp) -> None:
    """Delete the dataset from its settings, and arrive in the trash."""
    page.goto(f"{app.url}/p/shop/datasets/core/settings/")
    page.get_by_role("link", name="Delete this dataset").click()
    expect(page.get_by_role("heading", name="Delete the dataset Core")).to_be_visible()
    expect(page.locator("#main")).to_contain_text("6 examples")
    page.get_by_role("button", name="Delete dataset").click()
    expect(page.get_by_role("heading", name="Dataset Core core")).to_be_visible()


def test_a_dataset_goes_to_the_trash_comes_back_and_is_destroyed(
    person: Callable[[str], Page], app: LiveApp, axe: Callable[[Page], list[str]]
):
    page = person("Otto")
    delete_dataset(page, app)
    assert axe(page) == []
    page.get_by_role("link", name="Datasets", exact=True).click()
    expect(page.get_by_text("No dataset yet.")).to_be_visible()

    page.goto(f"{app.url}/p/shop/trash/")
    page.get_by_role("button", name="Restore Core").click()
    expect(page.get_by_text("Restored: dataset Core.")).to_be_visible()
    expect(page.get_by_text("The trash is empty.")).to_be_visible()
    page.get_by_role("link", name="Datasets", exact=True).click()
    expect(page.get_by_role("row", name="Core")).to_contain_text("6")

    delete_dataset(page, app)
    page.get_by_text("Delete permanently", exact=True).click()
    name = page.get_by_label("Type core to delete it permanently")
    destroy = page.get_by_role("button", name="Delete permanently Core")
    name.fill("something else")
    destroy.click()
    expect(page.get_by_text("Type core to delete it permanently. Nothing was deleted.")).to_be_visible()
    page.get_by_text("Delete permanently", exact=True).click()
    name.fill("core")
    destroy.click()
    expect(page.get_by_text("A job is deleting it permanently: dataset Core.")).to_be_visible()
    expect(page.get_by_text("Delete permanently", exact=True)).to_have_count(0)
    # The page looks again while the job lasts.
    expect(page.get_by_role("heading", name="Dataset Core core")).to_have_count(0, timeout=30_000)
    page.reload()
    expect(page.get_by_text("The trash is empty.")).to_be_visible()
    page.goto(f"{app.url}/p/shop/jobs/")
    expect(page.get_by_role("region", name="Permanently delete dataset Core")).to_contain_text("done")
