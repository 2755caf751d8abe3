"""Draw the heads of columns by which a list is sorted."""

from __future__ import annotations

from django import template
from django.template.context import Context
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag(takes_context=True)
def sort_head(context: Context, name: str, title: str, sort: str) -> SafeString:
    """Return the head of a column that sorts by it: rising first, the other way round when it is chosen again."""
    query = context["request"].GET.copy()
    for paged in ("page", "before"):
        query.pop(paged, None)
    query["sort"] = f"-{name}" if sort == name else name
    said = {name: ' aria-sort="ascending"', f"-{name}": ' aria-sort="descending"'}.get(sort, "")
    return format_html('<th scope="col"{}><a href="?{}">{}</a></th>', SafeString(said), query.urlencode(), title)
