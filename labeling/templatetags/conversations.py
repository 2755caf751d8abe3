"""Give templates pieces of a conversation as HTML, without the white space that a template would add inside `<pre>`."""

from __future__ import annotations

from collections.abc import Iterable

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from labeling.conversation.lines import Line
from labeling.conversation.picks import Segment
from labeling.conversation.turns import gist

register = template.Library()

NEWLINE = SafeString("\n")
PICK = (
    '<button type="button" class="pick" data-value="{0}" data-code="{1}" dir="auto" tabindex="-1">'
    '{0}<sup aria-hidden="true">{1}</sup></button>'
)


register.filter("gist", gist)


@register.simple_tag
def text_parts(parts: Iterable[Segment], pickable: bool = False) -> SafeString:
    """Return a text; with `pickable`, its values as buttons that carry their code."""
    return format_html_join("", "{}", ((_part(part, pickable),) for part in parts))


@register.simple_tag
def data_lines(lines: Iterable[Line], pickable: bool = False) -> SafeString:
    """Return the lines of a value, keys set apart."""
    return format_html_join(
        NEWLINE,
        "{}{}",
        (
            (
                format_html('<span class="k">{}</span>', line.key) if line.key else "",
                text_parts(line.parts, pickable),
            )
            for line in lines
        ),
    )


def _part(part: Segment, pickable: bool) -> SafeString:
    if not pickable or part.picks is None:
        return format_html("{}", part.text)
    return format_html(PICK, part.text, part.code)
