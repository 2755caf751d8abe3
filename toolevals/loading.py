"""Tell what pages need and would load when first asked for: loaded before, once, while no one waits."""

from __future__ import annotations

from pathlib import Path

from django.template.engine import Engine
from django.urls import get_resolver

from toolevals.presentation.figures import Curve, CurvePoint, HeatCell, MarginRate, TrendPoint, curves, heat_map, trend


def load_ahead() -> None:
    """Load the views, addresses and access rules, compile the templates, and draw the charts, which loads much."""
    # It imports models, and the importer of this has no applications yet.
    from toolevals.workspace.access import rules

    get_resolver().reverse_dict  # noqa: B018 - a property that loads them
    rules()
    templates_compile()
    draw_ahead()


def templates_compile() -> None:
    """Compile every template of the project's folders, which the engine keeps."""
    engine = Engine.get_default()
    for folder in map(Path, engine.dirs):
        for file in folder.rglob("*.html"):
            engine.get_template(file.relative_to(folder).as_posix())


def draw_ahead() -> None:
    """Draw one of each chart: plotly reads its descriptions and makes its validators once."""
    curves([Curve("", "ink", [CurvePoint(1, 50, 40, 60, [""])])], xs=[1])
    trend([[TrendPoint(n, "", 50, 40, 60, [""]) for n in (1, 2)]], goal=90, token="ink")  # noqa: S106 - of a colour
    rates = [MarginRate(0.5, 0.4, 0.6, [""])]
    heat_map([""], [""], [HeatCell(0, 0, "d1", "1", [""])], margins=(rates, rates))
