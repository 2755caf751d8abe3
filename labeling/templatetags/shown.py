"""Give templates what the reader of a page may see of an example: its strata, and the questions about it."""

from __future__ import annotations

from typing import Any

from django import template
from django.template import Context

from labeling.examples import shown_strata
from labeling.models import Example, Revision
from labeling.questions.threads import Talk, talk_of

register = template.Library()


@register.simple_tag(takes_context=True)
def strata_shown(context: Context, example: Example) -> list[str]:
    """Return the values of the strata that the reader sees."""
    return list(shown_strata.strata_shown(example, context["request"].role).values())


@register.simple_tag
def strata_to_label(example: Example) -> list[str]:
    """Return the values of the strata that are shown to the people who label an example."""
    return list(shown_strata.strata_to_label(example).values())


@register.simple_tag(takes_context=True)
def talk_about(context: dict[str, Any], revision: Revision) -> Talk:
    """Return what the person at the page reads of the questions about a revision."""
    request = context["request"]
    return talk_of(revision, request.user, request.role)
