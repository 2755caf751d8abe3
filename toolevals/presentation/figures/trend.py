"""Draws a rate over runs: a line with its 95 % band and a dashed goal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import plotly.graph_objects as go

from toolevals.json_types import JsonObject
from toolevals.presentation.figures.parts import chart, faded, layout, lines
from toolevals.presentation.figures.parts import words as shown
from toolevals.presentation.palettes import PALETTES

# The words of so many changes stand beside each other in the narrowest chart, each so long that it fills half of it.
MOST_WORDS: Final = 16
LONGEST_WORDS: Final = 16


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """One run's rate with its interval, all in percent; `label` is under it, `hover` next to it, `url` behind it."""

    x: int
    label: str
    value: float
    low: float
    high: float
    hover: Sequence[str]
    url: str = ""


def trend(
    segments: Sequence[Sequence[TrendPoint]],
    *,
    goal: float | None,
    token: str,
    baseline_agent: float | None = None,
    changes: Sequence[tuple[int, str]] = (),
    breaks: Sequence[int] = (),
    least: float | None = None,
) -> JsonObject:
    """Return the chart of one rate. Runs that can't be compared stand in different segments, which are not joined.

    `goal` (dashed) and `baseline_agent` (dotted) are in percent, None where there is none; `token` names the
    line's colour in the palettes. `changes` are places where something is new, and what: a line each; `breaks` those
    of points that are not joined to the one before: a dashed line between the two. `least` is the lowest value that
    the axis has room for, by default the lowest of the chart's own.
    """
    traces: list[Any] = []
    for segment in segments:
        xs = [point.x for point in segment]
        edge = {"x": xs, "mode": "lines", "hoverinfo": "skip", "showlegend": False}
        traces.append(go.Scatter(edge, y=[point.high for point in segment]))
        traces.append(go.Scatter(edge, y=[point.low for point in segment], fill="tonexty"))
        traces.append(
            go.Scatter(
                x=xs,
                y=[point.value for point in segment],
                mode="lines+markers",
                hovertext=[lines(point.hover) for point in segment],
                hoverinfo="text",
                customdata=[point.url for point in segment],
                # A band needs two points; one by itself carries its interval.
                error_y=_interval(segment[0]) if len(segment) == 1 else None,
                showlegend=False,
            )
        )
    points = [point for segment in segments for point in segment]
    return chart(
        traces,
        {
            theme: _changed(
                theme,
                _theme(theme, points, len(segments), {"dash": goal, "dot": baseline_agent}, token, least=least),
                changes,
                breaks,
                {point.x: point.value for point in points},
            )
            for theme in PALETTES
        },
    )


def _interval(point: TrendPoint) -> JsonObject:
    over, under = point.high - point.value, point.value - point.low
    return {"type": "data", "symmetric": False, "array": [over], "arrayminus": [under], "width": 3, "thickness": 1}


def _changed(
    theme: str,
    drawn: JsonObject,
    changes: Sequence[tuple[int, str]],
    breaks: Sequence[int],
    values: Mapping[int, float],
) -> JsonObject:
    """Add a line and a word where something is new, and a dashed line where points are not joined.

    The word stands in that half of the chart in which the point of the run, by its place in `values`, does not.
    """
    palette, layout = PALETTES[theme], drawn["layout"]
    middle = sum(layout["yaxis"]["range"]) / 2
    above = {x for x, value in values.items() if value < middle}
    new = {"width": 1, "color": palette["line"]}
    apart = {"width": 1, "dash": "dash", "color": palette["ink-3"]}
    layout["shapes"] = [
        *(
            {"type": "line", "yref": "paper", "x0": x, "x1": x, "y0": 0, "y1": 1, "line": line, "layer": "below"}
            for x, line in (*((x, new) for x, _ in changes), *((x - 0.5, apart) for x in breaks))
        ),
        *layout["shapes"],
    ]
    layout["annotations"] = [
        {
            "x": x,
            "y": 1 if x in above else 0,
            "yref": "paper",
            "text": shown(words),
            "showarrow": False,
            "textangle": -90,
            "xanchor": "right",
            "yanchor": "top" if x in above else "bottom",
            "bgcolor": palette["surface"],
            "font": {"size": 10, "color": palette["ink-3"]},
        }
        for x, words in _legible(changes, max(values, default=0) + 1)
    ]
    return drawn


def _legible(changes: Sequence[tuple[int, str]], runs: int) -> Sequence[tuple[int, str]]:
    """Return the changes whose words have room next to each other, the newest first; the others keep their lines.

    A word is as wide as a line of text is high. What is too long for half of the chart is cut: a point says it whole.
    """
    room, said = max(1.0, runs / MOST_WORDS), []
    last = float("inf")
    for x, words in sorted(changes, reverse=True):
        if last - x >= room:
            said.append((x, words if len(words) <= LONGEST_WORDS else f"{words[: LONGEST_WORDS - 1]}…"))
            last = x
    return said[::-1]


def _theme(
    theme: str,
    points: Sequence[TrendPoint],
    segments: int,
    levels: Mapping[str, float | None],
    token: str,
    *,
    least: float | None,
) -> JsonObject:
    colour = PALETTES[theme][token]
    hidden = {"line": {"width": 0, "color": colour}}
    line = {"line": {"width": 1.75, "color": colour}, "marker": {"size": 6, "color": colour}}
    drawn = {dash: level for dash, level in levels.items() if level is not None}
    lowest = [*drawn.values(), *(point.low for point in points)]
    start = max(0.0, (min(lowest, default=0.0) if least is None else least) - 3)
    xaxis = {
        "tickmode": "array",
        "tickvals": [point.x for point in points],
        "ticktext": [shown(point.label) for point in points],
        "range": [
            min((point.x for point in points), default=0) - 0.4,
            max((point.x for point in points), default=0) + 0.4,
        ],
    }
    return {
        "traces": [hidden, hidden | {"fillcolor": faded(colour)}, line] * segments,
        "layout": layout(
            theme,
            xaxis=xaxis,
            yaxis={"range": [start, 100.5], "ticksuffix": " %", "showgrid": True},
            shapes=[_level(level, dash, PALETTES[theme]["ink-3"]) for dash, level in drawn.items()],
        ),
    }


def _level(level: float, dash: str, colour: str) -> JsonObject:
    line = {"width": 1, "dash": dash, "color": colour}
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": level, "y1": level, "line": line}
