"""Holds the WSGI application that gunicorn serves, and loads what pages need, once, while nobody waits."""

import os
from pathlib import Path

from django.core.wsgi import get_wsgi_application
from django.template.engine import Engine
from django.urls import get_resolver

from toolevals.garbage import search_seldom
from toolevals.memory import allocate_tightly
from toolevals.presentation.figures import Curve, curves


def load_ahead() -> None:
    """Load the views, addresses and access rules, compile the templates, and draw a chart, which loads much."""
    # It imports models, and whoever imports this has no applications yet.
    from toolevals.workspace.access import rules

    get_resolver().reverse_dict  # noqa: B018 - a property that loads them
    rules()
    templates_compile()
    curves([Curve("", "ink", [])], xs=[1])


def templates_compile() -> None:
    """Compile every template of the project's folders; the engine keeps them."""
    engine = Engine.get_default()
    for folder in map(Path, engine.dirs):
        for file in folder.rglob("*.html"):
            engine.get_template(file.relative_to(folder).as_posix())


allocate_tightly()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolevals.settings")
application = get_wsgi_application()
# Once, before the server forks; not in each process while its first visitor waits.
load_ahead()
search_seldom()
