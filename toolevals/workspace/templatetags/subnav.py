"""Shows the sub-navigation of a part of the application, from the table in the settings."""

from __future__ import annotations

from typing import Any

from django import template
from django.conf import settings
from django.template.context import Context
from django.urls import reverse

from toolevals.workspace.models import Role
from toolevals.workspace.navigation import counted

register = template.Library()


@register.inclusion_tag("parts/subnav.html", takes_context=True)
def subnav(context: Context, part: str, here: str = "") -> dict[str, Any]:
    """Return the tabs of a part that the person's role sees; `here` names the page that is shown.

    Raises:
        KeyError: the table has no such part.

    """
    found = settings.SUBNAVIGATION[part]
    given = [context["project"].slug]
    if part == "dataset":
        given.append(context["dataset"].slug)
    role = context["role"] or Role.VIEWER
    counts = counted(context["request"]) if any(tab.counts for tab in found.tabs) and "request" in context else {}
    tabs = [
        {
            "title": tab.title,
            "url": reverse(tab.to, args=[*given, *tab.more]),
            "current": tab.here == here,
            "count": counts.get(tab.counts),
        }
        for tab in found.tabs
        if role >= Role[tab.role] and (counts.get(tab.counts) or not tab.when_waiting)
    ]
    return {"label": found.label, "tabs": tabs}
