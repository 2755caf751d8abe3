"""The suite `growth`: what fails where a unit becomes dearer with size."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import pytest

from benchmarks import growth
from benchmarks.growth import databases_in, growth_rows, rows, sizes_in
from scripts.dev.environment import ROOT


def test_a_unit_that_becomes_dearer_is_not_ok() -> None:
    found = {
        1000: {"import": 100.0, "page": 50.0},
        10: {"import": 80.0, "page": 30.0},
        100: {"import": 1.0, "page": 1.0},
    }
    made = list(growth_rows("SQLite", found))
    assert [(row.name, round(row.value, 2), row.ok) for row in made] == [
        ("SQLite: import, 1,000 over 10", 1.25, True),
        ("SQLite: page, 1,000 over 10", 1.67, False),
    ]


def test_every_size_is_stated_before_the_growth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROWTH_SIZES", "20,10")
    monkeypatch.setenv("GROWTH_DATABASES", "SQLite")
    monkeypatch.setattr(growth, "_measured", lambda _, size: {"import": float(size)})
    assert [row.name for row in rows()] == [
        "SQLite: import, of 10",
        "SQLite: import, of 20",
        "SQLite: import, 20 over 10",
    ]


@pytest.mark.parametrize("text", ["10", "10,10", "0,10", "-1,5", "ten,20", ""])
def test_sizes_that_show_no_growth_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"GROWTH_SIZES|invalid literal"):
        sizes_in(text)


def test_an_unknown_database_is_refused() -> None:
    assert databases_in("PostgreSQL") == ["PostgreSQL"]
    with pytest.raises(ValueError, match="names Oracle"):
        databases_in("SQLite,Oracle")


def bench(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_sizes_are_an_option_of_the_command() -> None:
    done = bench(["growth", "--sizes", "7", "--json"])
    assert done.returncode == 1
    assert "and is '7'" in done.stdout
