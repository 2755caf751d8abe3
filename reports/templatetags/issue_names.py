"""Show the name of an issue: what stands between backticks is code."""

from __future__ import annotations

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def issue_name(name: str) -> SafeString:
    """Return a name whose tools and arguments are marked as code."""
    parts = name.split("`")
    whole = parts if len(parts) % 2 else [*parts[:-2], "`".join(parts[-2:])]
    return format_html_join(
        "", "{}", ((format_html("<code>{}</code>", part) if place % 2 else part,) for place, part in enumerate(whole))
    )


@register.filter
def plain_name(name: str) -> str:
    """Return a name without the marks of code."""
    return name.replace("`", "")
