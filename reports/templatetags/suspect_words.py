"""Look up a word by a name that a row holds."""

from __future__ import annotations

from typing import Any

from django import template

from toolevals.json_types import JsonMapping

register = template.Library()


@register.filter
def at(words: JsonMapping, name: str) -> Any:
    """Return what a table has under a name; the name itself where it has nothing."""
    return words.get(name, name)
