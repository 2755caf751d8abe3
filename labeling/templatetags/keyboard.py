"""The sheet of a work page's keys, as the person at it has them."""

from __future__ import annotations

from typing import Any

from django import template

from labeling.keyboard import bindings_of, moved_keys
from labeling.models import KeyBindings
from toolevals.workspace.models import User

register = template.Library()


def own_keys(user: User) -> dict[str, str]:
    """Return a person's keys by the names of actions, where they are not the usual ones."""
    kept = KeyBindings.objects.filter(user=user).first()
    return dict(kept.bindings) if kept is not None else {}


@register.inclusion_tag("labeling/parts/keys_sheet.html", takes_context=True)
def keys_sheet(context: dict[str, Any], page: str, without: str = "") -> dict[str, Any]:
    """Return the sheet of one page, "label" or "adjudicate", without the actions of these names."""
    own = own_keys(context["request"].user)
    bindings = [one for one in bindings_of(own, page) if one.action.name not in without.split()]
    return {"bindings": bindings, "moved": moved_keys(own, page), "project": context["project"]}
