"""The links in the top bar. They are listed in the settings, because a lower room does not know the higher ones."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.module_loading import import_string

from toolevals.workspace.models import Role


@dataclass(frozen=True, slots=True)
class Link:
    """One link of the top bar; `count` is what waits there, None where nothing is counted."""

    title: str
    url: str
    current: bool
    count: int | None


def navigation(request: HttpRequest) -> list[Link]:
    """Return the links for the person who asks, or none outside a project."""
    project, role = getattr(request, "project", None), getattr(request, "role", None)
    if project is None or role is None:
        return []
    links = []
    for entry in settings.NAVIGATION:
        if role < Role[entry.role]:
            continue
        count = import_string(entry.counted_by)(project, request.user) if entry.counted_by else None
        if entry.when_waiting and not count:
            continue
        url = reverse(entry.to, args=[project.slug])
        places = (url, *(f"/p/{project.slug}/{section}/" for section in entry.sections))
        links.append(Link(entry.title, url, request.path.startswith(places), count))
    return links
