"""Test that charts drawn ahead leave nothing for plotly to read, and that its descriptions are what it has."""

from __future__ import annotations

import json
import random

import pytest
from plotly.validator_cache import ValidatorCache

from toolevals.presentation.figures import (
    Curve,
    CurvePoint,
    HeatCell,
    MarginRate,
    TrendPoint,
    ahead,
    curves,
    heat_map,
    trend,
)


def all_charts() -> list[object]:
    points = [CurvePoint(k, 50, 40, 60, ["<b>"]) for k in (1, 2, 3)]
    runs = [TrendPoint(n, "run", 50, 40, 60, ["a", "b"], "/run/") for n in (1, 2, 3)]
    cells = [HeatCell(0, column, "d1", "7", ["a"]) for column in range(50)]
    rates = [MarginRate(None, None, None, []), MarginRate(0.5, 0.2, 0.7, ["a"])]
    return [
        curves([Curve("one", "ink", points), Curve("other", "ink-3", points)], xs=[1, 2, 3]),
        curves([], xs=[]),
        trend([[]], goal=None, token="ink"),
        trend([runs[:1], runs[1:]], goal=90, token="ink", baseline_agent=3, changes=[(2, "x")], breaks=[2], least=1),
        heat_map(["a"], [str(n) for n in range(50)], cells),
        heat_map(["a", "b"], ["a", "b"], cells[:2], margins=(rates, rates), corner=("x", "y")),
    ]


@pytest.fixture
def plotly_forgets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ValidatorCache, "_cache", {})
    monkeypatch.setattr(ValidatorCache, "_json_cache", None)


def test_no_chart_of_a_page_reads_what_was_not_read_ahead(plotly_forgets: None, monkeypatch: pytest.MonkeyPatch):
    before = all_charts()
    ValidatorCache._cache.clear()
    ahead.draw_ahead()

    def refuse() -> str:
        raise AssertionError("read again")

    monkeypatch.setattr(ahead, "_read", refuse)
    assert all_charts() == before


def test_a_description_is_plotlys_own_wherever_it_is_found():
    descriptions = ahead.Descriptions()
    descriptions.open()
    whole = json.loads(ahead._read())
    for name in random.Random(1).sample(sorted(whole), 100):
        assert descriptions.get(name) == whole[name]
    descriptions.close()
    assert descriptions.get("layout") == whole["layout"]
    assert descriptions.get("nowhere") is None


def test_a_description_is_found_in_text_that_is_set_otherwise(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ahead, "_read", lambda: '{"a":{"b":1}}')
    assert ahead.Descriptions().get("a") == {"b": 1}
