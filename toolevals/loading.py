"""What pages need and would load when first asked for: loaded before, once, while nobody waits."""

from __future__ import annotations

from pathlib import Path

from django.template.engine import Engine
from django.urls import get_resolver

from toolevals.grading.metrics.bootstrap import mean_interval
from toolevals.presentation.figures import Curve, curves

# Examples alike, of which as many are drawn as a normal distribution says.
MANY = 100_000


def load_ahead() -> None:
    """Load the views, addresses and access rules, compile the templates, draw a chart and find an interval.

    A chart loads much, and an interval of many examples makes the table that all others are drawn from.
    """
    # It imports models, and whoever imports this has no applications yet.
    from toolevals.workspace.access import rules

    get_resolver().reverse_dict  # noqa: B018 - a property that loads them
    rules()
    templates_compile()
    curves([Curve("", "ink", [])], xs=[1])
    mean_interval({0.0: MANY, 1.0: MANY})


def templates_compile() -> None:
    """Compile every template of the project's folders; the engine keeps them."""
    engine = Engine.get_default()
    for folder in map(Path, engine.dirs):
        for file in folder.rglob("*.html"):
            engine.get_template(file.relative_to(folder).as_posix())
