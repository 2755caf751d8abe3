"""Pictures that the buttons of a chart save."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Locator

STARTS = {"PNG": b"\x89PNG", "SVG": b"<svg"}


def expect_pictures(pane: Locator, name: str) -> None:
    """Save the chart of a pane as each kind of picture, and see that it is one of that name."""
    files = pane.locator("[data-csv]")
    for kind, start in STARTS.items():
        if files.count() and files.get_attribute("open") is None:
            files.locator("summary").click()
        with pane.page.expect_download() as download:
            pane.get_by_role("button", name=kind, exact=True).click()
        assert download.value.suggested_filename == f"{name}.{kind.lower()}"
        path = download.value.path()
        assert path is not None
        assert Path(path).read_bytes().startswith(start)
