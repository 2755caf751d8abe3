"""Draws the confusion matrix as a heat map: right cells in one hue, wrong ones in the other, in the table's steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from toolevals.json_types import JsonObject
from toolevals.presentation.figures.parts import chart, layout, lines, names, words
from toolevals.presentation.palettes import PALETTES, STEPS

# More columns than this leave no room for a number in each cell.
MOST_NUMBERED = 40
# What the axes are, in the corner between them.
CORNER = {
    "showarrow": False,
    "align": "right",
    "xref": "paper",
    "yref": "paper",
    "x": 0,
    "y": 1,
    "xanchor": "right",
    "yanchor": "bottom",
    "xshift": -8,
    "yshift": 6,
}


@dataclass(frozen=True, slots=True)
class HeatCell:
    """One cell: row and column from 0, step ("d1".."e5", "" where nothing is), what stands in it and what hovers."""

    row: int
    column: int
    step: str
    text: str
    hover: Sequence[str]


def heat_map(
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Sequence[HeatCell],
    *,
    corner: tuple[str, str] = ("called", "expected"),
    margins: tuple[Sequence[MarginRate], Sequence[MarginRate]] | None = None,
) -> JsonObject:
    """Return the chart of a matrix, its first row at the top. Only the given cells are sent.

    `corner` says what the columns are, and what the rows; `margins` holds a rate for each row and for each column.

    Every row and every column must hold at least one cell (its step may be ""): the width of the others depends on it.
    """
    places = {step: number for number, step in enumerate(STEPS, start=1)}
    numbered = len(columns) <= MOST_NUMBERED
    trace = go.Heatmap(
        x=[cell.column for cell in cells],
        y=[cell.row for cell in cells],
        z=[places.get(cell.step) for cell in cells],
        text=[cell.text for cell in cells],
        texttemplate="%{text}" if numbered else None,
        textfont={"size": 13},
        hovertext=[lines(cell.hover) for cell in cells],
        hoverinfo="text",
        hoverongaps=False,
        zmin=0.5,
        zmax=len(STEPS) + 0.5,
        showscale=False,
        xgap=1 if numbered else 0,
        ygap=1 if numbered else 0,
    )
    axes = f"{words(corner[0])} →<br>{words(corner[1])} ↓"
    xaxis = names(columns) | {"side": "top", "tickangle": -90, "range": [-0.5, len(columns) - 0.5]}
    yaxis = names(rows) | {"range": [len(rows) - 0.5, -0.5]}
    if margins:
        xaxis |= {"domain": [0, CELLS_TO]}
        yaxis |= {"domain": [CELLS_FROM, 1]}
    return chart(
        [trace, *(margin_traces(*margins) if margins else ())],
        {
            theme: {
                "traces": [{"colorscale": heat_scale(theme)}, *(margin_marks(theme, *margins) if margins else ())],
                "layout": layout(
                    theme,
                    xaxis=xaxis,
                    yaxis=yaxis,
                    plot_bgcolor=PALETTES[theme]["empty"],
                    annotations=[
                        CORNER | {"text": axes, "font": {"size": 11, "color": PALETTES[theme]["ink-3"]}},
                        *(margin_numbers(theme, *margins) if margins and numbered else ()),
                    ],
                    **(margin_axes(theme) if margins else {}),
                    **({"margin": NUMBERED_MARGIN} if margins and numbered else {}),
                ),
            }
            for theme in PALETTES
        },
    )


def heat_scale(theme: str) -> list[list[float | str]]:
    """Return a colour scale of hard steps: one colour for each step of the heat."""
    palette = PALETTES[theme]
    scale: list[list[float | str]] = []
    for number, step in enumerate(STEPS):
        colour = palette[f"{'diag' if step[0] == 'd' else 'heat'}-{step[1]}"]
        scale += [[number / len(STEPS), colour], [(number + 1) / len(STEPS), colour]]
    return scale


# Where the cells end and the margins begin, in shares of the drawing; the page sets the heights in pixels.
ROWS_FROM, CELLS_TO = 0.9, 0.885
COLUMNS_TO, CELLS_FROM = 0.12, 0.14
# Pixels from the marks of the rows to the ends of their numbers, and the room that numbers need.
RECALL_AT, COUNT_AT = 34, 70
NUMBERED_MARGIN = {"l": 8, "r": COUNT_AT + 10, "t": 8, "b": 24}
_TICKS: JsonObject = {
    "range": [-0.04, 1.04],
    "tickvals": [0, 0.5, 1],
    "ticktext": ["0", "50", "100"],
    "fixedrange": True,
}


@dataclass(frozen=True, slots=True)
class MarginRate:
    """A rate of 0..1 with its interval, all None where there is nothing to count, what hovers, and it in numbers.

    `text` is the rate in percent and `count` what it is of, as they are next to its mark.
    """

    value: float | None
    low: float | None
    high: float | None
    hover: Sequence[str]
    text: str = ""
    count: str = ""


def margin_traces(rows: Sequence[MarginRate], columns: Sequence[MarginRate]) -> list[Any]:
    """Return the marks of rows and of columns, on the places of the heat map."""
    shared: JsonObject = {"mode": "markers", "hoverinfo": "text", "showlegend": False}
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


def margin_marks(theme: str, rows: Sequence[MarginRate], columns: Sequence[MarginRate]) -> list[JsonObject]:
    """Return how the marks look in a theme, their intervals with them."""
    palette = PALETTES[theme]
    marker = {"color": palette["ink"], "size": 5}
    return [
        {"marker": marker, "error_x": _intervals(rows, palette["ink-3"])},
        {"marker": marker, "error_y": _intervals(columns, palette["ink-3"])},
    ]


def margin_numbers(theme: str, rows: Sequence[MarginRate], columns: Sequence[MarginRate]) -> Iterator[JsonObject]:
    """Yield the numbers next to the marks: recall and n of each row, precision of each column."""
    palette = PALETTES[theme]
    shared: JsonObject = {"name": "margin", "showarrow": False, "yanchor": "middle"}
    beside = shared | {"xref": "paper", "x": 1, "xanchor": "right", "yref": "y"}
    head = beside | {"yref": "paper", "y": 1, "yanchor": "bottom", "font": {"size": 10, "color": palette["ink-3"]}}
    yield head | {"xshift": RECALL_AT, "text": "%"}
    yield head | {"xshift": COUNT_AT, "text": "n"}
    for place, rate in enumerate(rows):
        for at, text, ink in ((RECALL_AT, rate.text, "ink"), (COUNT_AT, rate.count, "ink-3")):
            yield beside | {"y": place, "xshift": at, "text": text, "font": {"size": 12, "color": palette[ink]}}
    for place, rate in enumerate(columns):
        yield shared | {
            "xref": "x",
            "x": place,
            "yref": "paper",
            "y": 0,
            "yshift": -10,
            "text": rate.text,
            "font": {"size": 12, "color": palette["ink"]},
        }


def margin_axes(theme: str) -> JsonObject:
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


def _intervals(rates: Sequence[MarginRate], colour: str) -> JsonObject:
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
