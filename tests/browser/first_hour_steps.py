"""Ways through the pages of the first hour: give a file, go to a page, wait for one."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from playwright.sync_api import expect

from tests.fixtures.first_hour import example
from tests.fixtures.person_time import Person


def drop(person: Person, name: str) -> None:
    """Let a file fall on the first page of the project, or choose it there."""
    person.give(person.page.locator("#drop-file"), example(name))
    with person.spent.waiting():
        expect(person.page.get_by_role("heading", level=1)).to_have_text(name, timeout=30_000)


def to_page(person: Person, name: str) -> None:
    """Go to a page of the menu under the project's name."""
    person.named("Library desk")
    person.point_at(person.page.locator("details.project summary"))
    person.follow(name, within=person.page.get_by_role("navigation", name="Project pages").first)


def tab(person: Person, name: str) -> None:
    """Go to a page of the top bar; its link may say how many wait."""
    person.named(name)
    bar = person.page.get_by_role("navigation", name="Project", exact=True)
    person.point_at(bar.get_by_role("link", name=re.compile(rf"^{name}( [\d,]+)?$")))


def until(person: Person, holds: Callable[[], bool]) -> None:
    """Load the page again until something holds on it, as a person does who waits for it."""
    deadline = time.monotonic() + 60
    with person.spent.waiting():
        while not holds():
            assert time.monotonic() < deadline, person.page.inner_text("main")
            person.page.wait_for_timeout(500)
            person.page.reload()
