"""Give templates questions about an example, where a page shows them."""

from __future__ import annotations

from typing import Any

from django import template

from labeling.models import Revision
from labeling.questions.threads import Talk, talk_of

register = template.Library()


@register.simple_tag(takes_context=True)
def talk_about(context: dict[str, Any], revision: Revision) -> Talk:
    """Return what the person at the page reads of the questions about a revision."""
    request = context["request"]
    return talk_of(revision, request.user, request.role)
