"""Tell what the figures share: fonts, the layout of a theme, labels."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import plotly.graph_objects as go

from toolevals.json_types import JsonObject
from toolevals.presentation.numbers import short
from toolevals.presentation.palettes import PALETTES

SANS = "Inter, -apple-system, 'Segoe UI', Roboto, sans-serif"
MONO = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def chart(traces: Sequence[Any], themes: dict[str, JsonObject]) -> JsonObject:
    """Return the document of a chart; `themes` holds, per theme, "traces" (what is laid over each) and "layout".

    Plotly's classes have validated each part; a whole `Figure` would validate and copy everything a second time.
    """
    for theme in themes.values():
        document = go.Layout(theme["layout"]).to_plotly_json()
        document.pop("template")
        theme["layout"] = document
    return {"data": [trace.to_plotly_json() for trace in traces], "themes": themes}


def layout(theme: str, *, xaxis: JsonObject, yaxis: JsonObject, **more: Any) -> JsonObject:
    """Return a quiet layout: no grid, no title, room for labels as they need it."""
    palette = PALETTES[theme]
    axis = {"showgrid": False, "zeroline": False, "ticks": "", "automargin": True, "gridcolor": palette["line"]}
    axis |= {"ticklabelstandoff": 6}
    tickfont = {"color": palette["ink-2"], "size": 11}
    return {
        "template": "none",
        "font": {"family": SANS, "size": 12, "color": palette["ink"]},
        "paper_bgcolor": palette["surface"],
        "plot_bgcolor": palette["surface"],
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "hovermode": "closest",
        "hoverlabel": {
            "bgcolor": palette["ink"],
            "bordercolor": palette["ink"],
            "font": {"color": palette["surface"], "family": SANS, "size": 12},
            "align": "left",
        },
        "xaxis": axis | xaxis | {"tickfont": tickfont | xaxis.get("tickfont", {})},
        "yaxis": axis | yaxis | {"tickfont": tickfont | yaxis.get("tickfont", {})},
        **more,
    }


def names(labels: Sequence[str]) -> JsonObject:
    """Return an axis that carries names at 0, 1, 2, ...; long ones are cut."""
    return {
        "tickmode": "array",
        "tickvals": list(range(len(labels))),
        "ticktext": [words(short(label)) for label in labels],
        "tickfont": {"family": MONO},
    }


def lines(text: Sequence[str]) -> str:
    """Return lines of foreign text as a hover label."""
    return "<br>".join(map(words, text))


def words(text: str) -> str:
    """Return foreign text in which Plotly finds no tag; it shows quotes as they are, but not what stands for them."""
    return escape(text, quote=False)


def faded(colour: str) -> str:
    """Return a colour `#rrggbb` as the ground of a band: nearly transparent."""
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.16)"
