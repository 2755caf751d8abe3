"""Holds the colours of charts, per theme: the tokens of `static/css/app.css`. A test keeps them equal."""

from __future__ import annotations

from typing import Final

# The theme's name -> the token's name -> its colour.
PALETTES: Final[dict[str, dict[str, str]]] = {
    "light": {
        "surface": "#ffffff",
        "sunken": "#eef0f2",
        "empty": "#f7f8f9",
        "line": "#e1e5e9",
        "ink": "#17202a",
        "ink-2": "#435060",
        "ink-3": "#5c6876",
        "diag-1": "#eef6f8",
        "diag-2": "#dcedf2",
        "diag-3": "#c6e1e9",
        "heat-1": "#fdf0e8",
        "heat-2": "#fbd9c2",
        "heat-3": "#f6b58a",
        "heat-4": "#e98849",
        "heat-5": "#ad3a02",
        "layer-selection": "#4648bc",
        "layer-arguments": "#84712b",
    },
    "dark": {
        "surface": "#151a20",
        "sunken": "#1d232b",
        "empty": "#191e25",
        "line": "#29313a",
        "ink": "#e5eaef",
        "ink-2": "#b6bfc9",
        "ink-3": "#95a1ae",
        "diag-1": "#15242b",
        "diag-2": "#172e37",
        "diag-3": "#1b3a46",
        "heat-1": "#241d1a",
        "heat-2": "#3d261a",
        "heat-3": "#6a371a",
        "heat-4": "#a5521e",
        "heat-5": "#ff9c66",
        "layer-selection": "#928efe",
        "layer-arguments": "#d9b02a",
    },
}
