"""Test how `./dev bench` prints what suites measure."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from benchmarks import __main__ as bench
from benchmarks._measuring import DATABASE, SIZE, databases, size
from benchmarks.growth import growth_rows
from benchmarks.row import Row


@pytest.fixture
def suite(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A suite named `made_up`, without rows yet."""
    module = ModuleType("benchmarks.made_up")
    monkeypatch.setitem(sys.modules, "benchmarks.made_up", module)
    monkeypatch.setattr(bench, "suites", lambda: ["made_up"])
    monkeypatch.setattr(sys, "argv", ["bench", "made_up", "--json"])
    return module


def printed(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_row_has_the_agreed_fields(suite: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    suite.rows = lambda: [Row("claims", 200.0, "claims/s", baseline=100.0, target=150.0)]  # type: ignore[attr-defined]
    assert bench.main() == 0
    assert printed(capsys) == [
        {
            "suite": "made_up",
            "name": "claims",
            "value": 200.0,
            "unit": "claims/s",
            "baseline": 100.0,
            "ratio": 2.0,
            "target": 150.0,
            "better": "higher",
            "ok": True,
        }
    ]


def test_a_missed_target_is_not_ok(suite: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    suite.rows = lambda: [Row("page", 90.0, "ms", target=50.0, better="lower")]  # type: ignore[attr-defined]
    assert bench.main() == 1
    assert printed(capsys)[0]["ok"] is False


def test_what_raises_is_an_error_after_the_rows_before_it(
    suite: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    def rows() -> Iterator[Row]:
        yield Row("first", 1.0, "s", better="lower")
        raise RuntimeError("no data")

    suite.rows = rows  # type: ignore[attr-defined]
    assert bench.main() == 1
    first, second = printed(capsys)
    assert first["ok"] is True
    assert (second["ok"], second["error"]) == (False, "RuntimeError: no data")


@pytest.mark.parametrize(
    ("row", "ratio"),
    [
        (Row("a", 10, "1/s", baseline=5), 2),
        (Row("a", 10, "ms", baseline=5, better="lower"), 0.5),
        (Row("a", 10, "ms"), None),
        (Row("a", 10, "ms", baseline=0), None),
    ],
)
def test_the_ratio_says_how_many_times_better(row: Row, ratio: float | None) -> None:
    assert row.ratio == ratio


def test_a_unit_that_becomes_dearer_with_size_is_not_ok() -> None:
    found = {1000: {"import": 100.0, "page": 50.0}, 10: {"import": 80.0, "page": 30.0}}
    made = list(growth_rows("SQLite", found))
    assert [(row.name, round(row.value, 2), row.ok) for row in made] == [
        ("SQLite: import, 1,000 over 10", 1.25, True),
        ("SQLite: page, 1,000 over 10", 1.67, False),
    ]


def test_size_and_database_are_those_that_are_asked_for(
    suite: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    suite.rows = lambda: [Row(name, size(7), "1") for name in databases()]  # type: ignore[attr-defined]
    for name in (SIZE, DATABASE):
        monkeypatch.setenv(name, "")
    bench.main()
    monkeypatch.setattr(sys, "argv", ["bench", "made_up", "--json", "--size", "3", "--database", "SQLite"])
    bench.main()
    found = [(row["name"], row["value"]) for row in printed(capsys)]
    assert found == [("SQLite", 7), ("PostgreSQL", 7), ("SQLite", 3)]
