"""Write parts of large tables at once: rows of the largest confusions, cells of agents on examples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from uuid import UUID

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from reports.matrix.table import ListedCell
from reports.solved.analysis import Cell
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


SOLVED = '<td class="s-{0}"><a href="{1}{2}/{3}">{4}<span class="visually-hidden"> {0}</span></a></td>'
NOT_HELD = SafeString('<td class="z"></td>')


@register.simple_tag
def solved_cells(cells: Iterable[Cell], example: UUID, opening: Mapping[int, str], query: str) -> SafeString:
    """Return the cells of an example, each a link to its case. `opening` is where links begin, by number of a run."""
    asked = f"?{query}" if query else ""
    return format_html_join(
        "",
        "{}",
        (
            (format_html(SOLVED, cell.status, opening[cell.run], example, asked, cell.mark),)
            if cell.run is not None
            else (NOT_HELD,)
            for cell in cells
        ),
    )
