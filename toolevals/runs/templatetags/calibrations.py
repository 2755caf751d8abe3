"""Look up the counts of a judge next to people by what a table's row and column say."""

from __future__ import annotations

from collections.abc import Mapping

from django import template

from toolevals.grading.judging.raters import Comparison

register = template.Library()


@register.filter
def words_of(text: str) -> list[str]:
    """Return the words of a text."""
    return text.split()


@register.filter
def cell(comparison: Comparison, judge: str) -> dict[str, int]:
    """Return the counts of one verdict of the judge, by what people say."""
    return {people: count for (said, people), count in comparison.cells.items() if said == judge}


@register.filter
def at(counts: Mapping[str, int], name: str) -> int:
    """Return the count under a name; 0 where there is none."""
    return counts.get(name, 0)


@register.filter
def value_rows(comparison: Comparison) -> list[tuple[float, float, int]]:
    """Return (judge's value, people's value, count), the best first."""
    return [(*pair, count) for pair, count in sorted(comparison.values.items(), reverse=True)]


@register.filter
def named(rater: str, names: Mapping[str, str]) -> str:
    """Return a rater's name."""
    return names.get(rater, "a person who left")
