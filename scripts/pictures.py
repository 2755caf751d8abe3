"""Takes the documents' pictures: `python -m scripts.pictures`, in the environment of `./dev test`.

It starts the application on an empty folder with the sample project, does what a newcomer would do, and keeps a picture
of each page in docs/pictures, light at 1440 px and, where that matters, dark or at 360 px.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from scripts.dev.chromium import on_path
from scripts.dev.environment import ROOT
from toolevals.serving.application import Application

PICTURES = ROOT / "docs" / "pictures"
PORT = 8642
PROJECT = "/p/shop-support"

TOOL = ".tool-row:has(.tool:text-is('get_order_history'))"
CHART = ".heatmaplayer image"


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture: its file, who looks (a role), at what, and how."""

    name: str
    role: str
    path: str
    theme: str = "light"
    width: int = 1440
    # What is chosen before the picture is taken, a CSS selector.
    click: str = ""
    # What must be there to be seen, a CSS selector.
    shows: str = "main"


PICTURES_TO_TAKE = (
    Picture("label-light", "reviewer", "/label/", click=TOOL, shows=".args .arg"),
    Picture("adjudicate-light", "adjudicator", "/adjudicate/"),
    Picture(
        "matrix-light", "viewer", "/runs/2/matrix/?expected=get_order_status&actual=get_order_history", shows=CHART
    ),
)


def main() -> int:
    """Take them all; return 0, or raise what went wrong."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        Application(python=sys.executable, data=Path(folder), port=PORT) as application,
        sync_playwright() as driver,
    ):
        logins = {login["role"]: login for login in json.loads(application.prepare(sample=True))}
        application.start()
        browser = driver.chromium.launch(executable_path=on_path(), args=["--no-sandbox"])
        _wait_for_runs(browser, application.url, logins["viewer"])
        for picture in PICTURES_TO_TAKE:
            take(browser, application.url, logins[picture.role], picture)
        browser.close()
    return 0


def take(browser: Browser, url: str, login: dict[str, str], picture: Picture) -> None:
    """Take one picture."""
    page = sign_in(browser, url, login, theme=picture.theme, width=picture.width)
    page.goto(f"{url}{PROJECT}{picture.path}", wait_until="networkidle")
    if picture.click:
        page.locator(picture.click).first.click()
    expect(page.locator(picture.shows).first).to_be_visible(timeout=30_000)
    page.screenshot(path=PICTURES / f"{picture.name}.png", animations="disabled")
    page.context.close()
    print(picture.name)  # noqa: T201 - a script for a person


def sign_in(browser: Browser, url: str, login: dict[str, str], *, theme: str = "light", width: int = 1440) -> Page:
    """Return a page on which a person has signed in."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme="dark" if theme == "dark" else "light"
    )
    page = context.new_page()
    page.goto(f"{url}/sign-in/")
    page.get_by_label("E-mail").fill(login["email"])
    page.get_by_label("Password").fill(login["password"])
    page.get_by_role("button", name="Sign in").click()
    # Pages hold a form to sign in again: only the address tells.
    expect(page).not_to_have_url(f"{url}/sign-in/")
    return page


def _wait_for_runs(browser: Browser, url: str, login: dict[str, str]) -> None:
    page = sign_in(browser, url, login)
    for _ in range(120):
        answer = page.goto(f"{url}{PROJECT}/runs/2/matrix/")
        if answer is not None and answer.ok and page.locator("table.heat, .heat-pane").count():
            break
        page.wait_for_timeout(500)
    page.context.close()


if __name__ == "__main__":
    sys.exit(main())
