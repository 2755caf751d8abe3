"""The rows of the largest confusions: two hundred of ten values each, written at once."""

from __future__ import annotations

from collections.abc import Iterable

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from reports.matrix.table import ListedCell
from toolevals.presentation.numbers import count, percent

register = template.Library()
ROW = """
      <tr{}><th scope="row"><span class="tool">{}</span></th>\
<td><a class="tool" href="?{}" data-cell="{},{}"{}>{}</a></td>\
<td class="r strong">{}</td><td class="r soft">{}</td>\
<td class="r nowrap"><i class="sw {}" aria-hidden="true"></i> {}</td></tr>
      """


@register.simple_tag
def confusion_rows(listed: Iterable[ListedCell]) -> SafeString:
    """Return the table rows of confusions, each a link to its cell."""
    on, current = SafeString(' class="is-on"'), SafeString(' aria-current="true"')
    rows = (
        (
            on if each.selected else "",
            each.cell.expected,
            each.query,
            each.row,
            each.column,
            current if each.selected else "",
            each.cell.actual,
            count(each.cell.count),
            count(each.cell.row_total),
            each.step,
            percent(each.cell.row_share),
        )
        for each in listed
    )
    return format_html_join("", ROW, rows)
