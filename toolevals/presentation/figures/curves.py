"""Draws shares over k as lines with their bands, told apart by dash and by name as well as by colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from toolevals.json_types import JsonObject
from toolevals.presentation.figures.parts import chart, faded, layout, lines, words
from toolevals.presentation.palettes import PALETTES

DASHES = ("solid", "dash")


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One point with its interval, all in percent; `hover` is next to it."""

    x: int
    value: float
    low: float
    high: float
    hover: Sequence[str]


@dataclass(frozen=True, slots=True)
class Curve:
    """One line: its name stands at its end; `token` names its colour in the palettes."""

    name: str
    token: str
    points: Sequence[CurvePoint]


def curves(found: Sequence[Curve], *, xs: Sequence[int]) -> JsonObject:
    """Return the chart of up to two lines over the same whole numbers `xs`."""
    traces: list[Any] = []
    for curve in found:
        places = [point.x for point in curve.points]
        edge = {"x": places, "mode": "lines", "hoverinfo": "skip", "showlegend": False}
        traces.append(go.Scatter(edge, y=[point.high for point in curve.points]))
        traces.append(go.Scatter(edge, y=[point.low for point in curve.points], fill="tonexty"))
        names = [""] * (len(places) - 1) + [f" {words(curve.name)}"]
        traces.append(
            go.Scatter(
                x=places,
                y=[point.value for point in curve.points],
                mode="lines+markers+text",
                text=names,
                textposition="middle right",
                cliponaxis=False,
                hovertext=[lines(point.hover) for point in curve.points],
                hoverinfo="text",
                showlegend=False,
            )
        )
    return chart(traces, {theme: _theme(theme, found, xs) for theme in PALETTES})


def _theme(theme: str, found: Sequence[Curve], xs: Sequence[int]) -> JsonObject:
    traces: list[JsonObject] = []
    for curve, dash in zip(found, DASHES, strict=False):
        colour = PALETTES[theme][curve.token]
        band = {"line": {"width": 0, "color": colour}}
        font = {"color": colour, "size": 12}
        traces += [band, band | {"fillcolor": faded(colour)}]
        line = {"color": colour, "width": 1.75, "dash": dash}
        traces += [{"line": line, "marker": {"size": 6, "color": colour}, "textfont": font}]
    xaxis = {
        "tickmode": "array",
        "tickvals": list(xs),
        "title": {"text": "k trials", "font": {"size": 11}},
        # Room for the names at the lines' ends.
        "range": [xs[0] - 0.3, xs[-1] + max(0.8, 0.22 * (xs[-1] - xs[0] + 1))] if xs else None,
    }
    yaxis = {"range": [0, 102], "ticksuffix": " %", "showgrid": True}
    return {"traces": traces, "layout": layout(theme, xaxis=xaxis, yaxis=yaxis)}
