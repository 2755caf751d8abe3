"""Give templates the sheet of a work page's keys, as the person at it has them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from django import template
from django.template.loader import render_to_string
from django.urls import reverse

from labeling.label.keyboard import bindings_of, moved_keys
from labeling.models import KeyBindings
from toolevals.workspace.models import User

register = template.Library()


def own_keys(user: User) -> dict[str, str]:
    """Return a person's keys by the names of actions, where they are not the usual ones."""
    kept = KeyBindings.objects.filter(user=user).first()
    return dict(kept.bindings) if kept is not None else {}


@register.simple_tag(takes_context=True)
def keys_sheet(context: dict[str, Any], page: str, without: str = "") -> str:
    """Return the sheet of one page, "label" or "adjudicate", without the actions of these names."""
    own = context["own_keys"] if "own_keys" in context else own_keys(context["request"].user)
    return _drawn(tuple(own.items()), page, without, reverse("labeling:keys", args=[context["project"].slug]))


@lru_cache(maxsize=256)
def _drawn(keys: tuple[tuple[str, str], ...], page: str, without: str, address: str) -> str:
    """Return the sheet as HTML: it is the same with each example."""
    own = dict(keys)
    bindings = [one for one in bindings_of(own, page) if one.action.name not in without.split()]
    content = {"bindings": bindings, "moved": moved_keys(own, page), "address": address}
    return render_to_string("labeling/parts/keys_sheet.html", content)
