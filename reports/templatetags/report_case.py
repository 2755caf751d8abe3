"""Mark the calls of a case's conversation."""

from __future__ import annotations

from collections.abc import Mapping

from django import template

from labeling.conversation import CallBlock, Turn
from reports.judges.analysis import UNMARKED, Mark
from toolevals.runs.models import Thumb

register = template.Library()


@register.filter
def status_in(block: CallBlock, statuses: Mapping[int, str]) -> str:
    """Return what a call is worth: "passed", "failed", "repeated", "forgiven" or nothing."""
    return statuses.get(id(block), "")


@register.filter
def mark_for(marks: Mapping[str, Mark], rubric: str) -> Mark:
    """Return what is known of a rubric's judge next to people."""
    return marks.get(rubric, UNMARKED)


@register.filter
def thumb_for(thumbs: Mapping[str, Thumb], rubric: str) -> Thumb | None:
    """Return what this person says of a rubric's judge."""
    return thumbs.get(rubric)


@register.filter
def has_wrong(turn: Turn, statuses: Mapping[int, str]) -> bool:
    """Return whether a turn holds a wrong call."""
    return any(statuses.get(id(block)) == "failed" for block in turn.blocks)
