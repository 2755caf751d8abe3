"""Draws the margins of a heat map: a rate with its interval next to each row and below each column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from toolevals.presentation.figures.parts import lines
from toolevals.presentation.palettes import PALETTES

# Where the cells end and the margins begin, in shares of the drawing; the page sets the heights in pixels.
ROWS_FROM, CELLS_TO = 0.9, 0.885
COLUMNS_TO, CELLS_FROM = 0.12, 0.14
_TICKS: dict[str, Any] = {
    "range": [-0.04, 1.04],
    "tickvals": [0, 0.5, 1],
    "ticktext": ["0", "50", "100"],
    "fixedrange": True,
}


@dataclass(frozen=True, slots=True)
class MarginRate:
    """A rate of 0..1 with its interval, all None where there is nothing to count, and what hovers."""

    value: float | None
    low: float | None
    high: float | None
    hover: Sequence[str]


def margin_traces(rows: Sequence[MarginRate], columns: Sequence[MarginRate]) -> list[Any]:
    """Return the marks of rows and of columns, on the places of the heat map."""
    shared: dict[str, Any] = {"mode": "markers", "hoverinfo": "text", "showlegend": False}
    return [
        go.Scatter(
            x=[rate.value for rate in rows],
            y=list(range(len(rows))),
            xaxis="x2",
            yaxis="y",
            hovertext=[lines(rate.hover) for rate in rows],
            **shared,
        ),
        go.Scatter(
            x=list(range(len(columns))),
            y=[rate.value for rate in columns],
            xaxis="x",
            yaxis="y2",
            hovertext=[lines(rate.hover) for rate in columns],
            **shared,
        ),
    ]


def margin_marks(theme: str, rows: Sequence[MarginRate], columns: Sequence[MarginRate]) -> list[dict[str, Any]]:
    """Return how the marks look in a theme, their intervals with them."""
    palette = PALETTES[theme]
    marker = {"color": palette["ink"], "size": 5}
    return [
        {"marker": marker, "error_x": _intervals(rows, palette["ink-3"])},
        {"marker": marker, "error_y": _intervals(columns, palette["ink-3"])},
    ]


def margin_axes(theme: str) -> dict[str, Any]:
    """Return the axes of the margins: recall to the right, precision below."""
    palette = PALETTES[theme]
    font = {"size": 10, "color": palette["ink-3"]}
    quiet = {"showgrid": True, "gridcolor": palette["line"], "zeroline": False, "ticks": "", "tickfont": font}
    return {
        "xaxis2": quiet
        | _TICKS
        | {"domain": [ROWS_FROM, 1], "side": "top", "title": {"text": "recall %", "font": font}},
        "yaxis2": quiet | _TICKS | {"domain": [0, COLUMNS_TO], "title": {"text": "precision %", "font": font}},
    }


def _intervals(rates: Sequence[MarginRate], colour: str) -> dict[str, Any]:
    return {
        "type": "data",
        "symmetric": False,
        "array": [_distance(rate.high, rate.value) for rate in rates],
        "arrayminus": [_distance(rate.value, rate.low) for rate in rates],
        "color": colour,
        "thickness": 1.5,
        "width": 0,
    }


def _distance(upper: float | None, lower: float | None) -> float:
    return 0.0 if upper is None or lower is None else round(max(upper - lower, 0.0), 5)
