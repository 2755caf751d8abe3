"""The index of the documents lists every page once, and every heading that a link names is there."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from scripts.dev.environment import ROOT
from tests.project.files import project_files

DOCS = ROOT / "docs"
INDEX = (DOCS / "README.md").read_text("utf-8")
PURPOSES = ("Tutorials", "How-to guides", "Reference", "Explanation")
LISTED = re.compile(r"^- \[[^\]]+\]\(([\w./-]+\.md)\)", re.MULTILINE)
ANCHORED = re.compile(r"\]\(([\w./-]*\.md)?#([\w-]+)\)")
DOCUMENTS = [*sorted(DOCS.glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]


def test_every_page_is_listed_once() -> None:
    pages = {path.name for path in project_files(".md") if path.parent == DOCS} - {"README.md"}
    assert Counter(LISTED.findall(INDEX)) == Counter({*pages, "decisions/README.md"})


def test_pages_stand_under_their_purpose() -> None:
    assert re.findall(r"^## ([\w-]+(?: guides)?):", INDEX, re.MULTILINE) == list(PURPOSES)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_anchors_lead_to_headings(document: Path) -> None:
    missing = [
        f"{target}#{anchor}"
        for target, anchor in ANCHORED.findall(document.read_text("utf-8"))
        if anchor not in anchors_of((document.parent / target).resolve() if target else document)
    ]
    assert missing == []


def anchors_of(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as a forge makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    found: Counter[str] = Counter()
    anchors = set()
    for heading in re.findall(r"^#+ (.+?)\s*$", text, re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        anchors.add(f"{slug}-{found[slug]}" if found[slug] else slug)
        found[slug] += 1
    return anchors
