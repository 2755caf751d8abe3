"""Test each line of the threat model names a test that is there."""

from __future__ import annotations

import re

from scripts.dev.environment import ROOT

NAMED = re.compile(r"`([\w/]+\.py)(?:::(\w+))?` \|$", re.MULTILINE)


def test_each_threat_names_a_test():
    page = (ROOT / "docs" / "security.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ") and not line.startswith(("| threat", "| ---"))]
    named = NAMED.findall(page)
    assert len(rows) == len(named) > 20
    for file, function in named:
        text = (ROOT / "tests" / file).read_text("utf-8")
        assert not function or f"def {function}(" in text, f"{file}::{function}"
