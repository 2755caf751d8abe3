"""Names the browser and the system that a user agent claims to be."""

from __future__ import annotations

from typing import Final

from django import template

register = template.Library()

# In this order: each claims to be those after it as well.
_BROWSERS: Final = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS: Final = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


@register.filter
def browser(user_agent: str) -> str:
    """Return words such as "Firefox on Linux"; of another program, what it calls itself."""
    found = [next((name for mark, name in kinds if mark in user_agent), "") for kinds in (_BROWSERS, _SYSTEMS)]
    return " on ".join(filter(None, found)) or user_agent[:60] or "A program without a name"
