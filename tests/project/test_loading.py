"""Test what the web server loads before anybody asks for a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.template.engine import Engine

from toolevals.loading import templates_compile


def test_every_template_of_the_project_is_compiled_and_kept(settings):
    loader: Any = Engine.get_default().template_loaders[0]
    loader.reset()
    templates_compile()
    (folder,) = settings.TEMPLATES[0]["DIRS"]
    files = {str(file.relative_to(folder)) for file in Path(folder).rglob("*.html")}
    assert len(files) > 100
    assert {template.name for template in loader.get_template_cache.values()} >= files
