"""Shows long names of tools so that those of one service, which begin alike, can be told apart."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from toolevals.presentation.numbers import amount, short
from toolevals.workspace.mentions.names import text_named

register = template.Library()
# Names of so many characters stand in one piece; of longer ones the end always stays in sight.
WHOLE = 28
END = 20

register.filter("short", short)
register.filter("amount", amount)
register.filter("mentions", text_named)


@register.filter
def middle(name: str) -> SafeString:
    """Return a name that the page cuts in its middle where it has no room: its text stays whole."""
    if len(name) <= WHOLE:
        return format_html("{}", name)
    return format_html('<span class="mid"><span>{}</span><span>{}</span></span>', name[:-END], name[-END:])
