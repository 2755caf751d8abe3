"""Give templates the strata of an example, as far as the reader of the page may see them."""

from __future__ import annotations

from django import template
from django.template import Context

from labeling.examples import shown_strata
from labeling.models import Example

register = template.Library()


@register.simple_tag(takes_context=True)
def strata_shown(context: Context, example: Example) -> list[str]:
    """Return the values of the strata that the reader sees."""
    return list(shown_strata.strata_shown(example, context["request"].role).values())


@register.simple_tag
def strata_to_label(example: Example) -> list[str]:
    """Return the values of the strata that are shown to the people who label an example."""
    return list(shown_strata.strata_to_label(example).values())
