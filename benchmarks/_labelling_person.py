"""Plays a practised person at the label page: presses keys without a pause, looks at the page only where one must."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from playwright.sync_api import Page, expect

# Milliseconds: a machine may be busy.
PATIENCE = 30_000
TYPE = "type:"
REPEATED = re.compile(r"(?P<key>.+)\*(?P<times>\d+)")


@dataclass
class Worked:
    """The cost of labelling: keys and seconds of each example, and the examples that were handed in, in their order."""

    keys: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)


class Person:
    """Labels what they are handed on a page that is open, as a plan says."""

    def __init__(self, page: Page, plan: Mapping[str, str]) -> None:
        self.page = page
        self.plan = plan
        self.pressed = 0
        self.worked = Worked()

    def work(self) -> Worked:
        """Label until nothing is left. Raises KeyError at an example without a plan."""
        while (example := self.example()) is not None:
            self._label(example)
        return self.worked

    def example(self) -> str | None:
        """Return which example is on the page, None where nothing is left to label."""
        main = self.page.locator("#main")
        return main.locator("h1 .mono").inner_text() if main.get_attribute("data-slot") else None

    def _label(self, example: str) -> None:
        """Enter a label and hand it in. The seconds end when the next example is there: they are all the system's."""
        self.pressed, began = 0, time.perf_counter()
        slot = self.page.locator("#main").get_attribute("data-slot") or ""
        for step in shlex.split(self.plan[example]):
            self._do(step)
        self._press("Control+Enter")
        expect(self.page.locator(f'#main[data-slot="{slot}"]')).to_have_count(0, timeout=PATIENCE)
        self.worked.seconds.append(time.perf_counter() - began)
        self.worked.keys.append(self.pressed)
        self.worked.examples.append(example)

    def _do(self, step: str) -> None:
        if step.startswith(TYPE):
            for character in step.removeprefix(TYPE):
                self._press(character)
        else:
            found = REPEATED.fullmatch(step)
            for _ in range(int(found["times"]) if found else 1):
                self._press(found["key"] if found else step)

    def _press(self, key: str) -> None:
        """Press a key, or several held together: both are one."""
        self.page.keyboard.press(key)
        self.pressed += 1
