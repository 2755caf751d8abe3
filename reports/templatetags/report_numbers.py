"""Write numbers and their marks on pages: one way to write a rate everywhere."""

from __future__ import annotations

import re
from typing import Any

import orjson
from django import template
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString

from reports.rates import FEW, FEW_WORDS, Rate, few_of
from reports.run.analysis import words
from toolevals.grading.values.verdict_table import VERDICTS
from toolevals.presentation import numbers
from toolevals.presentation.numbers import interval_mark, short
from toolevals.presentation.parquet import missing_package

register = template.Library()
register.filter("percent", numbers.percent)
register.filter("whole_percent", numbers.whole_percent)
register.filter("thousands", numbers.count)
register.filter("words", words)
register.filter("amount", numbers.amount)
register.filter("amount_change", numbers.amount_change)
register.filter("points", numbers.points)
register.filter("part_count", numbers.part_count)
register.filter("signed_amount", numbers.signed_amount)
register.filter("p_value", numbers.p_value)
register.filter("short", short)
# The outcome, layers and depths as the pages call them; the others are called what they are.
NAMES = {row.name: row.title for row in VERDICTS if row.title}
LETTERS = {row.name: row.letter for row in VERDICTS if row.letter}
NAMED = re.compile(r"`([^`]+)`")

MARK = (
    '<svg class="ivl{0}" aria-hidden="true"><rect class="track" y="6.5" width="100%" height="1"/>'
    '<rect class="span" x="{1}" y="4" width="{2}" height="6" rx="1"/>'
    '<rect class="dot" x="{3}" y="1" width="2.5" height="12"/>'
    '<rect class="goal" x="{4}" y="1" width="1" height="12"/></svg>'
)


@register.simple_tag
def interval(value: float | None, low: float | None, high: float | None, goal: float, start: float = 0.0) -> SafeString:
    """Return an interval as a mark on a track, hidden from readers: the numbers are next to it."""
    if value is None or low is None or high is None:
        return SafeString("")
    mark = interval_mark(value, low, high, goal=goal, start=start)
    return format_html(MARK, " ivl-low" if mark.low else "", mark.x, mark.width, mark.dot, mark.goal)


@register.filter
def script_json(value: Any, name: str) -> SafeString:
    """Return a document for a page's script, as `json_script` does it: for large ones, of numbers and plain text."""
    written = orjson.dumps(value)
    for character, instead in ((b"<", b"\\u003C"), (b">", b"\\u003E"), (b"&", b"\\u0026")):
        written = written.replace(character, instead)
    return SafeString(f'<script id="{conditional_escape(name)}" type="application/json">{written.decode()}</script>')


@register.filter
def few(rate: Rate) -> SafeString:
    """Return the sign of a rate over so few examples that it cannot tell, with its words; nothing of the others."""
    sign = few_of(rate)
    return format_html('<sup class="few" title="{}">{}</sup>', FEW_WORDS, sign) if sign else SafeString("")


@register.simple_tag
def few_words() -> str:
    """Return what the sign of `few` says, for below a table."""
    return f"{FEW} {FEW_WORDS}."


@register.simple_tag
def span(low: float | None, high: float | None) -> str:
    """Return an interval in words: "81.6 to 87.8"."""
    return numbers.span(low, high)


@register.simple_tag
def signed_span(low: float | None, high: float | None) -> str:
    """Return an interval of differences in words: "+2.9 to +7.7"."""
    return numbers.signed_span(low, high)


@register.filter
def named_tools(reason: str) -> SafeString:
    """Return a reason with the names that stand in it between backticks set as names of tools."""
    parts = NAMED.split(reason)
    return format_html_join(
        "",
        "{}",
        ((format_html('<span class="tool">{}</span>', part) if n % 2 else part,) for n, part in enumerate(parts)),
    )


@register.filter
def layer_name(name: str) -> str:
    """Return what the pages call an outcome, layer or depth."""
    return NAMES.get(name, name)


@register.filter
def layer_letter(name: str) -> str:
    """Return the letter that marks a layer; none for what is no layer."""
    return LETTERS.get(name, "")


@register.filter
def share_of(part: int, whole: int) -> str:
    """Return a part of a whole as an SVG length."""
    return f"{100 * part / whole:.1f}%" if whole else "0%"


@register.filter
def as_length(share: float) -> str:
    """Return a share of 0..1 as an SVG length."""
    return f"{100 * share:.1f}%"


@register.filter
def rest_as_length(share: float) -> str:
    """Return what a share of 0..1 leaves as an SVG length."""
    return f"{100 * (1 - share):.1f}%"


@register.simple_tag
def parquet_link(address: str, query: str = "") -> str:
    """Return the link to a table as Parquet; nothing where that cannot be written."""
    if missing_package():
        return ""
    asked = "&".join(filter(None, (query.removeprefix("?"), "form=parquet")))
    return format_html('<a class="btn btn-quiet" href="{}?{}">Parquet</a>', address, asked)
