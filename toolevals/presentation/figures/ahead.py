"""Draws one of each chart before anyone asks for one, and keeps little of what plotly would keep for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import plotly
from plotly.validator_cache import ValidatorCache

from toolevals.presentation.figures.curves import Curve, CurvePoint, curves
from toolevals.presentation.figures.heat_map import HeatCell, heat_map
from toolevals.presentation.figures.margins import MarginRate
from toolevals.presentation.figures.trend import TrendPoint, trend


class Descriptions:
    """Plotly's descriptions of all that it can draw, each read when it is asked for: together they take 10 MB."""

    def __init__(self) -> None:
        self._text = ""

    def get(self, name: str) -> Any:
        """Return the description of a part of a chart, as "layout.xaxis"; None where there is no such part."""
        text = self._text or _read()
        before = f'\n    "{name}": '
        place = text.find(before)
        if place < 0:
            return json.loads(text).get(name)
        return json.JSONDecoder().raw_decode(text, place + len(before))[0]

    def open(self) -> None:
        """Keep the text in memory, until closed."""
        self._text = _read()

    def close(self) -> None:
        """Let go of the text."""
        self._text = ""


def draw_ahead() -> None:
    """Draw one of each chart; plotly keeps the validators that it makes for these, and no descriptions."""
    ValidatorCache._json_cache = descriptions = Descriptions()
    descriptions.open()
    curves([Curve("", "ink", [CurvePoint(1, 50, 40, 60, [""])])], xs=[1])
    trend(
        [[TrendPoint(1, "", 50, 40, 60, [""])], [TrendPoint(n, "", 50, 40, 60, [""]) for n in (2, 3)]],
        goal=90,
        token="ink",  # noqa: S106 - of a colour
        baseline_agent=30,
        changes=[(2, "")],
        breaks=[2],
    )
    rates = [MarginRate(0.5, 0.4, 0.6, [""])]
    heat_map([""], [""], [HeatCell(0, 0, "d1", "1", [""])], margins=(rates, rates))
    descriptions.close()


def _read() -> str:
    return (Path(plotly.__file__).parent / "validators/_validators.json").read_text(encoding="utf-8")
