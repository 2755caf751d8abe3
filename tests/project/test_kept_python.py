"""Imports that code begins with are made before a child is forked for it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.fixtures.kept_python import import_ahead


@pytest.fixture(autouse=True)
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("begun_by", "broken_one", "later_on"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    (tmp_path / "begun_by.py").write_text("VALUE = 1")
    (tmp_path / "broken_one.py").write_text("raise ValueError")
    (tmp_path / "later_on.py").write_text("VALUE = 1")


def test_what_follows_a_statement_that_is_no_import_is_left_to_the_child() -> None:
    import_ahead("import json\nfrom begun_by import VALUE\nprint(VALUE)\nfrom later_on import VALUE")
    assert "begun_by" in sys.modules
    assert "later_on" not in sys.modules


@pytest.mark.parametrize("code", ["from broken_one import VALUE", "from nowhere_at_all import VALUE", "no code"])
def test_what_is_wrong_is_left_to_the_child(code: str) -> None:
    import_ahead(code)
    assert sys.modules.keys().isdisjoint({"broken_one", "nowhere_at_all"})
