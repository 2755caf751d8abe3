"""Show what the argument rows need of their pane."""

from __future__ import annotations

from django import template

from labeling.label_form.panel import Panel

register = template.Library()


@register.simple_tag
def problem_of(panel: Panel, path: str) -> str:
    """Return what is wrong with one field, or nothing."""
    return panel.problems.get(path, "")
